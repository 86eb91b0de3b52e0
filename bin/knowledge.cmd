@echo off
rem What the script beside this file does, on Windows, where clients find this
rem one by PATHEXT when they are told to start knowledge. The same order: fetched
rem by the client beside this file; kept; on the PATH; the release archive; a
rem build; one line. Programs are kept in %LocalAppData%\knowledge-bin with their
rem SHA-256, size and time. It differs where a batch file must: a build is made
rem again only for another version or with KNOWLEDGE_BUILD, and instead of a stub
rem the client is told in its first reply to connect again.
setlocal EnableExtensions DisableDelayedExpansion
if defined KNOWLEDGE_LAUNCHER exit /b 1
set NoDefaultCurrentDirectoryInExePath=1
for %%I in ("%~dp0..") do set "root=%%~fI"
set "own=%root%\.claude-plugin"
rem Not HOME: names of variables have no case here.
set "site=https://github.com/seed-4f2d999b/knowledge"
set "module=github.com/seed-4f2d999b/knowledge"
set "hook="
if "%~1"=="hook" set "hook=yes"
set "version="
for /f "usebackq tokens=1,2 delims=:, " %%a in ("%own%\plugin.json") do if "%%~a"=="version" if not defined version set "version=%%~b"
if not defined LocalAppData set "LocalAppData=%USERPROFILE%\AppData\Local"
set "kept=%LocalAppData%\knowledge-bin"
set "released=%kept%\%version%\knowledge.exe"
set "built="
if exist "%root%\cmd\knowledge\main.go" findstr /b /c:"module %module%" "%root%\go.mod" >nul && set "built=%kept%\%version%\built\%root::=%\knowledge.exe"
set "arch=amd64"
if /i "%PROCESSOR_ARCHITECTURE%"=="ARM64" set "arch=arm64"
if /i "%PROCESSOR_ARCHITEW6432%"=="ARM64" set "arch=arm64"

rem Settings of the plugin. A client that has none leaves their names as they are.
if not defined KNOWLEDGE_OPTION_DATA_DIR if defined CLAUDE_PLUGIN_OPTION_DATA_DIR set "KNOWLEDGE_OPTION_DATA_DIR=%CLAUDE_PLUGIN_OPTION_DATA_DIR%"
set "data=%KNOWLEDGE_DATA_DIR%"
if defined KNOWLEDGE_OPTION_DATA_DIR if not "%KNOWLEDGE_OPTION_DATA_DIR:~0,1%"=="$" set "data=%KNOWLEDGE_OPTION_DATA_DIR%"
set "base=%site%/releases/download"
if defined KNOWLEDGE_OPTION_RELEASE_URL if not "%KNOWLEDGE_OPTION_RELEASE_URL:~0,1%"=="$" set "base=%KNOWLEDGE_OPTION_RELEASE_URL%"
if defined KNOWLEDGE_RELEASE_URL set "base=%KNOWLEDGE_RELEASE_URL%"

call :there
if not errorlevel 1 goto run
if defined hook exit /b 0
set "why="
call :listed
if not errorlevel 1 goto obtain
call :buildable
if not errorlevel 1 goto obtain
set "why=no release of version %version% is known for Windows %arch%, no knowledge of that version is on the PATH, and there is no Go to build it with; run this once in a terminal, then connect again: winget install --exact --id GoLang.Go"
if not defined built set "why=no release of version %version% is known for Windows %arch%, no knowledge of that version is on the PATH, and there is no source here to build; make one with Go: go install %module%/cmd/knowledge@v%version%"
goto failed

:obtain
rem A build takes minutes, and a client waits thirty seconds: another process makes it.
if not "%~1"=="mcp" goto here
if defined KNOWLEDGE_BACKGROUND goto here
call :listed
if not errorlevel 1 goto here
set KNOWLEDGE_BACKGROUND=1
start "" /b cmd /c call "%~f0" version <nul >nul 2>nul
set KNOWLEDGE_BACKGROUND=
set "why=the program is being built with Go, which takes one to three minutes, once for this version; go on with other tools and connect again then, with /mcp in Claude Code"
goto failed
:here
if not exist "%kept%\%version%\" mkdir "%kept%\%version%" 2>nul
if not exist "%kept%\%version%\" set "why=cannot write to %kept%; make it writable" & goto failed
rem The lock is a file that is open while its holder lives: nobody can delete it then.
set "lock=%kept%\lock"
set "work=%kept%\new-%RANDOM%%RANDOM%"
:wait
del "%lock%" >nul 2>nul
if not exist "%lock%" goto mine
ping -n 2 127.0.0.1 >nul
call :ready
if not errorlevel 1 goto run
goto wait
:mine
call :make >"%lock%"
rd /s /q "%work%" 2>nul
del "%lock%" >nul 2>nul
if defined why goto failed
set made=yes
call :ready
if not errorlevel 1 goto run
if not defined why set "why=the program that was made just now is not there"
goto failed

rem The program gets the environment as it was, and where its data is.
:run
endlocal & set "KNOWLEDGE_DATA_DIR=%data%" & "%exe%" %*
exit /b %errorlevel%

rem failed says why, to a client in its own protocol, as an error to whatever it asks first.
:failed
if not "%~1"=="mcp" goto say
set "why=%why:\=\\%"
set "why=%why:"='%"
for /l %%n in (1,1,3) do call :refuse
exit /b 1
:say
setlocal EnableDelayedExpansion
echo knowledge: !why!>&2
exit /b 1

rem refuse answers one message of the client with why, as the error of its id.
rem Quotes go first: what the client says must not end a string here.
:refuse
set "line="
set /p "line="
if not defined line exit /b
call set "line=%%line:"='%%"
set "line=%line:'id':=~%"
set "id=0"
for /f "tokens=2 delims=~" %%i in ("%line%") do set "id=%%i"
for /f "tokens=1 delims=,} " %%i in ("%id%") do set "id=%%i"
if "%id:~0,1%"=="'" set "id=0"
setlocal EnableDelayedExpansion
echo {"jsonrpc":"2.0","id":!id!,"error":{"code":-32000,"message":"knowledge: !why!"}}
endlocal
exit /b

rem there sets exe to the program, if it can be had at once.
:there
call :ready
if not errorlevel 1 exit /b 0
call :found
exit /b %errorlevel%

rem make fetches, else builds. Its output is the lock: it says things on standard error.
:make
mkdir "%work%" 2>nul
call :ready
if not errorlevel 1 exit /b 0
call :listed
if errorlevel 1 goto build
call :fetch
if not errorlevel 1 exit /b 0
call :buildable
if errorlevel 1 exit /b 1
set "why="
:build
echo knowledge: the program is being built with Go, which takes one to three minutes>&2
pushd "%root%"
setlocal
set CGO_ENABLED=0
set GOWORK=off
set GOFLAGS=
"%go%" build -trimpath -buildvcs=false "-ldflags=-s -w" -o "%work%\knowledge.exe" ./cmd/knowledge >"%work%\log" 2>&1
endlocal
popd
if not exist "%work%\knowledge.exe" (
	findstr /c:"requires go >= " /c:"requires Go 1." /c:"download go1." /c:"invalid go version " "%work%\log" >nul && goto old
	type "%work%\log" >&2
	set "why=the build failed; see why with: go -C "%root%" build -o "%TEMP%\knowledge.exe" ./cmd/knowledge"
	exit /b 1
)
call :keep "%built%"
exit /b %errorlevel%
:old
set "why=Go"
for /f "usebackq tokens=1,2" %%a in ("%root%\go.mod") do if "%%a"=="go" set "why=Go %%b"
set "why=%why% is needed to build it, which %go% is too old for; run this once in a terminal, then connect again: winget install --exact --id GoLang.Go"
exit /b 1

rem listed reports whether checksums.txt names an archive, and sets archive and want.
:listed
if defined KNOWLEDGE_BUILD if defined built exit /b 1
if not exist "%own%\checksums.txt" exit /b 1
set "archive=knowledge_%version%_windows_%arch%.zip"
set "want="
for /f "usebackq tokens=1,2 delims=* " %%a in ("%own%\checksums.txt") do if "%%b"=="%archive%" set "want=%%a"
if defined want exit /b 0
exit /b 1

:fetch
set "from=%base%/v%version%/%archive%"
set "zip=%work%\%archive%"
set "proto="
if /i "%base:~0,8%"=="https://" set "proto==https"
if "%base:~0,17%"=="http://127.0.0.1:" set "proto==http"
if "%base:~0,17%"=="http://localhost:" set "proto==http"
if not "%base:@=%"=="%base%" set "proto="
if not "%base: =%"=="%base%" set "proto="
if not defined proto set "why=refused to fetch from %base%: only https is safe, without @ and spaces; set KNOWLEDGE_RELEASE_URL to such an address" & exit /b 1
call :tool curl.exe
if defined tool (
	"%tool%" -gfsSL --proto %proto% --proto-redir %proto% --connect-timeout 10 --max-time 600 -o "%zip%" "%from%" >&2
) else (
	powershell -NoProfile -Command "$ProgressPreference='SilentlyContinue'; Invoke-WebRequest -UseBasicParsing -Uri $env:from -OutFile $env:zip" >&2
)
if not exist "%zip%" set "why=cannot fetch %from%; check the network, or set KNOWLEDGE_RELEASE_URL to a mirror" & exit /b 1
call :sha256 "%zip%"
if /i not "%got%"=="%want%" set "why=refused %from%: its SHA-256 is %got%, not %want%; nothing was installed" & exit /b 1
call :tool tar.exe
if defined tool (
	"%tool%" -xf "%zip%" -C "%work%" knowledge.exe >&2
) else (
	powershell -NoProfile -Command "Expand-Archive -LiteralPath $env:zip -DestinationPath $env:work" >&2
)
if not exist "%work%\knowledge.exe" set "why=cannot unpack %from%; nothing was installed" & exit /b 1
call :keep "%released%"
exit /b %errorlevel%

rem keep makes the program in the work folder the one at %1.
:keep
call :sha256 "%work%\knowledge.exe"
if not exist "%~dp1" mkdir "%~dp1" 2>nul
rd /s /q "%~1" >nul 2>nul
del "%~1.sum" >nul 2>nul
move /y "%work%\knowledge.exe" "%~1" >nul
if not exist "%~1" set "why=cannot write to %~dp1; see what is left with: fsutil volume diskfree %~d1" & exit /b 1
call :seal "%~1" %got%
exit /b 0

:seal
for %%I in ("%~1") do >"%~1.sum" echo %2 %%~zI %%~tI
exit /b 0

rem whole reports whether %1 is the program that was kept there.
:whole
if not exist "%~1" exit /b 1
if not exist "%~1.sum" exit /b 1
for %%I in ("%~1") do set "now=%%~zI %%~tI" & set "attributes=%%~aI"
if "%attributes:~0,1%"=="d" exit /b 1
set "sum="
set "was="
for /f "usebackq tokens=1,* delims= " %%a in ("%~1.sum") do set "sum=%%a" & set "was=%%b"
if "%now%"=="%was%" exit /b 0
if defined hook exit /b 1
call :sha256 "%~1"
if /i not "%got%"=="%sum%" exit /b 1
call :seal "%~1" %sum%
exit /b 0

:sha256
set "got="
for /f "skip=1 delims=" %%h in ('certutil -hashfile "%~1" SHA256 2^>nul') do if not defined got set "got=%%h"
if defined got set "got=%got: =%"
exit /b 0

rem ready sets exe to the program, if it is beside us or kept.
:ready
if defined KNOWLEDGE_BUILD if defined built goto readybuilt
set "exe=%root%\bin\knowledge-x86_64-pc-windows-msvc.exe"
if "%arch%"=="arm64" set "exe=%root%\bin\knowledge-aarch64-pc-windows-msvc.exe"
if exist "%exe%" exit /b 0
set "exe=%released%"
call :whole "%exe%"
if not errorlevel 1 exit /b 0
:readybuilt
set "exe=%built%"
if not defined built exit /b 1
if defined KNOWLEDGE_BUILD if not defined made exit /b 1
call :whole "%exe%"
exit /b %errorlevel%

rem found sets exe to the knowledge on the PATH, if its version fits.
:found
if defined KNOWLEDGE_BUILD if defined built exit /b 1
call :tool knowledge.exe
set "exe=%tool%"
if not defined exe exit /b 1
for %%I in ("%exe%") do set "now=%exe% %%~zI %%~tI"
set "was="
if exist "%released%.path" for /f "usebackq delims=" %%a in ("%released%.path") do set "was=%%a"
if "%now%"=="%was%" exit /b 0
if defined hook exit /b 1
call :asked
if not defined number exit /b 1
if "%number%"=="%version%" goto fits
set "ok="
for /f "tokens=1-6 delims=." %%a in ("%number%.%version%") do (
	if "%%a"=="%%d" if "%%b"=="%%e" if %%c GEQ %%f set "ok=yes"
	if "%%a"=="%%d" if not "%%a"=="0" if %%b GTR %%e set "ok=yes"
)
if not defined ok exit /b 1
:fits
if not exist "%kept%\%version%\" mkdir "%kept%\%version%" 2>nul
>"%released%.path" echo %now%
exit /b 0

rem asked sets number to the version that exe says it has, within three seconds.
:asked
set "number="
set "said=%TEMP%\knowledge-%RANDOM%%RANDOM%.txt"
set KNOWLEDGE_LAUNCHER=asks
start "" /b cmd /c ""%exe%" version <nul >"%said%" 2>nul"
set KNOWLEDGE_LAUNCHER=
for /l %%n in (1,1,4) do call :heard
del "%said%" >nul 2>nul
exit /b 0
:heard
if defined number exit /b 0
if exist "%said%" for /f "usebackq tokens=1,2,3" %%a in ("%said%") do if "%%a"=="knowledge" if not "%%c"=="" set "number=%%b"
if not defined number ping -n 2 127.0.0.1 >nul
exit /b 0

:buildable
if not defined built exit /b 1
call :tool go.exe
set "go=%tool%"
if not defined go if exist "%ProgramFiles%\Go\bin\go.exe" set "go=%ProgramFiles%\Go\bin\go.exe"
if defined go exit /b 0
exit /b 1

rem tool sets tool to the program %1 on the PATH, never that of the current folder.
:tool
set "tool="
for %%p in (%1) do set "tool=%%~$PATH:p"
exit /b 0
