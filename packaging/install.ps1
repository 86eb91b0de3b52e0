# Installs the program knowledge on Windows: fetches the archive of this machine
# from a release, compares it with the release's checksums and puts the program
# into a folder of yours. It needs no administrator.
#
#   irm https://github.com/seed-4f2d999b/knowledge/releases/latest/download/install.ps1 | iex
#
#   KNOWLEDGE_VERSION      which version
#   KNOWLEDGE_INSTALL_DIR  where to; else %LOCALAPPDATA%\Programs\knowledge
#   KNOWLEDGE_RELEASE_URL  where the releases are, https or on this machine; else GitHub
& {
    $ErrorActionPreference = 'Stop'
    $ProgressPreference = 'SilentlyContinue' # the bar makes downloads slow
    $page = 'https://github.com/seed-4f2d999b/knowledge'

    # 1. the version and the folder
    $version = '0.1.0' # the newest version; rendered
    if ($env:KNOWLEDGE_VERSION) { $version = $env:KNOWLEDGE_VERSION.TrimStart('v') }
    if ($version -notmatch '^[0-9A-Za-z.+-]+$') { throw "install.ps1: '$version' is no version; leave KNOWLEDGE_VERSION out for the newest" }
    $dir = $env:KNOWLEDGE_INSTALL_DIR
    if (-not $dir) { $dir = Join-Path $env:LOCALAPPDATA 'Programs\knowledge' }

    # 2. the platform; a 32-bit PowerShell hides the processor in the second variable
    $cpu = $env:PROCESSOR_ARCHITEW6432
    if (-not $cpu) { $cpu = $env:PROCESSOR_ARCHITECTURE }
    $arch = switch ($cpu) { 'AMD64' { 'amd64' } 'ARM64' { 'arm64' } default { throw "install.ps1: there are no programs for Windows on $cpu; see $page/releases" } }
    $archive = "knowledge_${version}_windows_$arch.zip"

    # 3. only https, or this machine
    $releases = $env:KNOWLEDGE_RELEASE_URL
    if (-not $releases) { $releases = "$page/releases/download" }
    if ($releases -notmatch '^https://[^@ ]+$' -and $releases -notmatch '^http://(127\.0\.0\.1|localhost|\[::1\])[:/][^@ ]*$') {
        throw "install.ps1: refused to fetch from ${releases}: only https is safe; take the releases of GitHub: Remove-Item Env:KNOWLEDGE_RELEASE_URL"
    }
    $from = $releases.TrimEnd('/') + "/v$version"
    # Windows PowerShell 5 speaks old TLS by itself
    [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12

    New-Item -ItemType Directory -Force -Path $dir | Out-Null
    $tmp = Join-Path $dir ".knowledge-install-$PID"
    New-Item -ItemType Directory -Path $tmp | Out-Null
    try {
        # 4. the checksums, then the archive
        Invoke-WebRequest -UseBasicParsing -Uri "$from/checksums.txt" -OutFile (Join-Path $tmp 'checksums.txt')
        $want = $null
        foreach ($line in Get-Content (Join-Path $tmp 'checksums.txt')) {
            $sum, $file = $line -split '\s+\*?', 2
            if ($file -eq $archive) { $want = $sum }
        }
        if (-not $want) { throw "install.ps1: version $version has no archive for Windows on $arch; see $page/releases" }
        Invoke-WebRequest -UseBasicParsing -Uri "$from/$archive" -OutFile (Join-Path $tmp $archive)

        # 5. the comparison
        $got = (Get-FileHash -Algorithm SHA256 -Path (Join-Path $tmp $archive)).Hash.ToLowerInvariant()
        if ($got -ne $want) { throw "install.ps1: refused $from/${archive}: its SHA-256 is $got, not $want; nothing was installed" }

        # 6. a program that starts replaces the old one; a running one is moved aside, it cannot be overwritten
        Expand-Archive -Path (Join-Path $tmp $archive) -DestinationPath (Join-Path $tmp 'new')
        $new = & (Join-Path $tmp 'new\knowledge.exe') version
        if ($LASTEXITCODE -ne 0) { throw "install.ps1: the program does not start in $dir; name another folder in KNOWLEDGE_INSTALL_DIR" }
        $program = Join-Path $dir 'knowledge.exe'
        Get-ChildItem -Path $dir -Filter 'knowledge.exe.old*' | Remove-Item -Force -ErrorAction SilentlyContinue
        if (Test-Path $program) { Move-Item -Force $program "$program.old$PID" }
        Move-Item -Force (Join-Path $tmp 'new\knowledge.exe') $program
        Remove-Item -Force "$program.old$PID" -ErrorAction SilentlyContinue
    }
    finally {
        Remove-Item -Recurse -Force $tmp -ErrorAction SilentlyContinue
    }

    # 7. what is next
    Write-Output "installed $new as $program"
    $name = 'knowledge'
    if (($env:Path -split ';') -notcontains $dir) {
        $name = "& '$($program -replace "'", "''")'"
        $quoted = $dir -replace "'", "''"
        Write-Output "$dir is not on your Path; to put it there: [Environment]::SetEnvironmentVariable('Path', [Environment]::GetEnvironmentVariable('Path', 'User') + ';$quoted', 'User')"
    }
    Write-Output "to give it to your coding agents: $name install"
    Write-Output "next, in a folder of yours: $name"
}
