#!/usr/bin/env bash
# Makes everything that `make demo`, `make test` and `make run` need: missing system libraries, a
# virtual environment, and the pinned packages of constraints.txt. Does nothing when all is there.
set -euo pipefail
cd "$(dirname "$0")/.."

want=${1:-run}      # run: the application; test: besides what the tests need
venv=.venv
stamp="$venv/.labapp-$want"

say() { printf '%s\n' "$*" >&2; }

# --- Python ---------------------------------------------------------------------------------------
python=""
for candidate in "${PYTHON:-}" python3 python3.13 python3.12 python3.11; do
  [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1 || continue
  if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    python=$candidate
    break
  fi
done
if [ -z "$python" ]; then
  say "labapp needs Python 3.11 or newer with its venv module, and none was found."
  say "Nothing was changed. Install it (Debian, Ubuntu: sudo apt-get install python3 python3-venv) and run this again."
  exit 1
fi

# --- System libraries (Linux) ---------------------------------------------------------------------
if [ "$(uname -s)" = Linux ]; then
  packages=()
  has() { ldconfig -p 2>/dev/null | grep -q "$1"; }
  need() { has "$1" || packages+=("$2"); }
  need 'libglib-2\.0\.so\.0' libglib2.0-0
  need 'libEGL\.so\.1' libegl1
  need 'libGL\.so\.1' libgl1
  need 'libX11-xcb\.so\.1' libx11-xcb1
  need 'libxkbcommon\.so\.0' libxkbcommon0
  need 'libxkbcommon-x11\.so\.0' libxkbcommon-x11-0
  need 'libxcb-cursor\.so\.0' libxcb-cursor0
  need 'libxcb-icccm\.so\.4' libxcb-icccm4
  need 'libxcb-image\.so\.0' libxcb-image0
  need 'libxcb-keysyms\.so\.1' libxcb-keysyms1
  need 'libxcb-randr\.so\.0' libxcb-randr0
  need 'libxcb-render\.so\.0' libxcb-render0
  need 'libxcb-render-util\.so\.0' libxcb-render-util0
  need 'libxcb-shape\.so\.0' libxcb-shape0
  need 'libxcb-shm\.so\.0' libxcb-shm0
  need 'libxcb-sync\.so\.1' libxcb-sync1
  need 'libxcb-xfixes\.so\.0' libxcb-xfixes0
  need 'libxcb-xinerama\.so\.0' libxcb-xinerama0
  need 'libxcb-xkb\.so\.1' libxcb-xkb1
  need 'libdbus-1\.so\.3' libdbus-1-3
  need 'libfontconfig\.so\.1' libfontconfig1
  need 'libfreetype\.so\.6' libfreetype6
  need 'libportaudio\.so\.2' libportaudio2
  compgen -G '/usr/share/fonts/*/*/*.[to]tf' >/dev/null || packages+=(fonts-dejavu-core)
  if [ "$want" = test ]; then
    command -v Xvfb >/dev/null || packages+=(xvfb)
    command -v pulseaudio >/dev/null || packages+=(pulseaudio)
    command -v pactl >/dev/null || packages+=(pulseaudio-utils)
    command -v espeak-ng >/dev/null || packages+=(espeak-ng)
    compgen -G '/usr/lib/*/alsa-lib/libasound_module_pcm_pulse.so' >/dev/null || packages+=(libasound2-plugins)
  fi
  if [ ${#packages[@]} -gt 0 ]; then
    install="apt-get install -y --no-install-recommends ${packages[*]}"
    if ! command -v apt-get >/dev/null; then
      say "These system libraries are missing (Debian's names): ${packages[*]}"
      say "Nothing was changed. Install them with your system's package manager and run this again."
      exit 1
    elif [ "$(id -u)" = 0 ]; then
      say "Installing system libraries: ${packages[*]}"
      log=$(mktemp)
      if ! { apt-get update -qq && DEBIAN_FRONTEND=noninteractive $install; } >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        say "The system libraries could not be installed; the end of apt's output is above."
        exit 1
      fi
      rm -f "$log"
    else
      say "These system libraries are missing: ${packages[*]}"
      say "Nothing was changed. Install them with this command and run this again:"
      say "  sudo $install"
      exit 1
    fi
  fi
fi

# --- Python packages ------------------------------------------------------------------------------
fresh=$(cat pyproject.toml constraints.txt scripts/setup.sh | cksum)
if [ ! -f "$stamp" ] || [ "$(cat "$stamp")" != "$fresh" ] || [ ! -x "$venv/bin/labapp" ]; then
  say "Setting up Python packages in $venv (a few minutes the first time) ..."
  [ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
  pip=("$venv/bin/python" -m pip --disable-pip-version-check --quiet)
  # torch alone and first: the pinned build is the only large package, and the rest depends on it.
  "${pip[@]}" install --constraint constraints.txt torch==2.13.0
  extra=""
  [ "$want" = test ] && extra="[dev]"
  "${pip[@]}" install --constraint constraints.txt --editable ".$extra"
  printf '%s' "$fresh" >"$stamp"
fi
