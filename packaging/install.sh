#!/bin/sh
# Installs the program knowledge: fetches the archive of this machine from a
# release, compares it with the release's checksums and puts the program into a
# folder of yours. It needs no root; it needs curl or wget, and tar.
#
#   curl -fsSL https://github.com/seed-4f2d999b/knowledge/releases/latest/download/install.sh | sh
#   … | sh -s -- [--version VERSION] [--dir FOLDER] [COMMAND …]
#
# A COMMAND is run at once with the new program: … | sh -s -- search "retry after a timeout"
#
#   KNOWLEDGE_VERSION      which version, as --version
#   KNOWLEDGE_INSTALL_DIR  where to, as --dir; else ~/.local/bin
#   KNOWLEDGE_RELEASE_URL  where the releases are, https or on this machine; else GitHub
set -eu

home=https://github.com/seed-4f2d999b/knowledge
again="curl -fsSL $home/releases/latest/download/install.sh"
command -v curl >/dev/null || ! command -v wget >/dev/null || again="wget -qO- $home/releases/latest/download/install.sh"

die() {
	echo "install.sh: $*" >&2
	exit 1
}

# Everything is in a function that the last line calls: half a script does nothing.
main() {
	version=${KNOWLEDGE_VERSION:-0.1.0} # the newest version; rendered
	dir=${KNOWLEDGE_INSTALL_DIR:-}
	while [ $# -gt 0 ]; do
		case $1 in
		--version | --dir)
			[ -n "${2:-}" ] || die "$1 needs a value; give one: $again | sh -s -- --version ${version#v} --dir ~/.local/bin"
			if [ "$1" = --dir ]; then dir=$2; else version=$2; fi
			shift 2
			;;
		--version=*) version=${1#*=} && shift ;;
		--dir=*) dir=${1#*=} && shift ;;
		--) shift && break ;;
		-*) die "there is no option $1; there are --version and --dir: $again | sh -s -- --dir ~/.local/bin" ;;
		*) break ;;
		esac
	done
	version=${version#v}
	case $version in
	'' | *[!0-9A-Za-z.+-]*) die "\"$version\" is no version; leave it out for the newest: $again | sh" ;;
	esac
	if [ -z "$dir" ]; then
		[ -n "${HOME:-}" ] || die "there is no HOME to install into; name a folder: $again | sh -s -- --dir /opt/knowledge"
		dir=$HOME/.local/bin
	fi
	case $dir in /*) ;; *) dir=$PWD/$dir ;; esac

	platform
	archive=knowledge_${version}_${os}_$arch.tar.gz
	releases=${KNOWLEDGE_RELEASE_URL:-$home/releases/download}
	from=${releases%/}/v$version
	case $from in
	*@* | *' '*) die "refused to fetch from $releases: an address with @ or spaces; take the releases of GitHub: unset KNOWLEDGE_RELEASE_URL" ;;
	https://?*) proto='=https' ;;
	http://127.0.0.1[:/]* | http://localhost[:/]* | http://\[::1\][:/]*) proto='=http' ;;
	*) die "refused to fetch from $releases: only https is safe; take the releases of GitHub: unset KNOWLEDGE_RELEASE_URL" ;;
	esac

	mkdir -p "$dir" 2>/dev/null || die "cannot make the folder $dir; name one of yours: $again | sh -s -- --dir ~/knowledge"
	tmp=$dir/.knowledge-install-$$
	mkdir "$tmp" 2>/dev/null || die "cannot write to $dir; name a folder of yours: $again | sh -s -- --dir ~/knowledge"
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM

	fetch checksums.txt
	want=
	while read -r sum file; do
		[ "${file#\*}" != "$archive" ] || want=$sum
	done <"$tmp/checksums.txt"
	[ -n "$want" ] || die "version $version has no archive for $os on $arch; build it with Go: go install github.com/seed-4f2d999b/knowledge/cmd/knowledge@v$version"
	fetch "$archive"
	got=$(sha256 "$tmp/$archive") || die "neither sha256sum, shasum nor openssl is there to check $archive; install one of them, then once more: $again | sh"
	[ "$got" = "$want" ] || die "refused $from/$archive: its SHA-256 is $got, not $want; nothing was installed; fetch it once more: $again | sh"
	tar -xzof "$tmp/$archive" -C "$tmp" knowledge 2>/dev/null || die "cannot unpack $archive; see whether tar and gzip are there: tar --version"
	if [ ! -f "$tmp/knowledge" ] || [ -L "$tmp/knowledge" ]; then
		die "refused $from/$archive: its knowledge is no program but a link or a folder; nothing was installed; fetch it once more: $again | sh"
	fi
	chmod 755 "$tmp/knowledge"
	"$tmp/knowledge" version >"$tmp/new" 2>&1 || die "the program does not start in $dir; if programs may not run there, name another folder: $again | sh -s -- --dir ~/knowledge"
	was=
	[ ! -x "$dir/knowledge" ] || was=$("$dir/knowledge" version 2>/dev/null) || was='a program that did not start'
	[ ! -d "$dir/knowledge" ] || die "$dir/knowledge is a folder; name another place: $again | sh -s -- --dir ~/knowledge"
	mv -f "$tmp/knowledge" "$dir/knowledge" || die "cannot replace $dir/knowledge; name another folder: $again | sh -s -- --dir ~/knowledge"
	new=$(cat "$tmp/new")
	rm -rf "$tmp"
	trap - EXIT

	echo "installed $new as $dir/knowledge${was:+, in place of $was}"
	program=knowledge
	first=$(command -v knowledge 2>/dev/null) || first=
	if [ "$first" != "$dir/knowledge" ]; then
		program=$(quote "$dir/knowledge")
		if [ -n "$first" ]; then
			echo "your PATH finds another one first, $first; to change that: export PATH=$(quote "$dir"):\"\$PATH\""
		else
			echo "$dir is not on your PATH; for this shell: export PATH=$(quote "$dir"):\"\$PATH\""
		fi
	fi
	if [ $# -gt 0 ]; then
		exec "$dir/knowledge" "$@"
	fi
	echo "to give it to your coding agents: $program install"
	echo "next, in a folder of yours: $program"
}

# platform sets os and arch as releases spell them.
platform() {
	case $(uname -s) in
	Linux) os=linux ;;
	Darwin) os=darwin ;;
	MINGW* | MSYS* | CYGWIN*) die "this is Windows; use its script: powershell -c \"irm $home/releases/latest/download/install.ps1 | iex\"" ;;
	*) os=$(uname -s) ;;
	esac
	case $(uname -m) in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) arch=$(uname -m) ;;
	esac
	case $os/$arch in
	linux/amd64 | linux/arm64 | darwin/amd64 | darwin/arm64) ;;
	*) die "there are no programs for $os on $arch; build it with Go: go install github.com/seed-4f2d999b/knowledge/cmd/knowledge@v$version" ;;
	esac
}

# fetch brings a file of the release into tmp.
fetch() {
	if command -v curl >/dev/null; then
		curl -fsSL --proto "$proto" --proto-redir '=https' --connect-timeout 10 --max-time 600 -o "$tmp/$1" "$from/$1" 2>"$tmp/said"
	elif command -v wget >/dev/null; then
		wget -q -O "$tmp/$1" "$from/$1" 2>"$tmp/said"
	else
		die "neither curl nor wget is there to fetch $from/$1; install one of them$(how curl)"
	fi || die "cannot fetch $from/$1 ($(tail -n 1 "$tmp/said")); see which versions there are at $home/releases, and try once more: $again | sh"
}

# how names the command that installs a package, where one is known.
how() {
	for manager in 'apt-get install -y' 'dnf install -y' 'apk add' 'pacman -S' 'zypper install' 'brew install'; do
		if command -v "${manager%% *}" >/dev/null; then
			echo ": $manager $1"
			return
		fi
	done
}

sha256() {
	if command -v sha256sum >/dev/null; then
		set -- "$(sha256sum "$1")"
	elif command -v shasum >/dev/null; then
		set -- "$(shasum -a 256 "$1")"
	elif command -v openssl >/dev/null; then
		set -- "$(openssl dgst -sha256 -r "$1")"
	else
		return 1
	fi
	set -- "${1#\\}" # sha256sum marks names with backslashes so
	echo "${1%% *}"
}

# quote makes a word of a shell of what may hold blanks.
quote() {
	case $1 in
	*[!A-Za-z0-9_./~+-]*) printf "'%s'\n" "$(printf %s "$1" | sed "s/'/'\\\\''/g")" ;;
	*) echo "$1" ;;
	esac
}

main "$@"
