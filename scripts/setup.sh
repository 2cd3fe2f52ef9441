#!/usr/bin/env bash
# Makes everything that `make demo`, `make test` and `make run` need: missing system libraries, a
# virtual environment, and the packages of locks/, each with its hash. Does nothing when all is there.
set -euo pipefail
cd "$(dirname "$0")/.."

want=${1:-run}      # run: the application; docs: and what builds its documentation; test: and what the tests need
                    # TORCH=yes or no in the environment: with torch or without
venv=.venv
stamp="$venv/.labapp-$want"

say() { printf '%s\n' "$*" >&2; }

# Install Debian packages as root, else name the command that does. "Nothing was changed" holds as
# long as this comes before the virtual environment.
install_or_name() {
  local command=(apt-get install -y --no-install-recommends "$@") log
  if ! command -v apt-get >/dev/null; then
    say "Missing (Debian's names): $*"
    say "Nothing was changed. Install them with your system's package manager and run this again."
    exit 1
  elif [ "$(id -u)" != 0 ]; then
    say "Missing: $*"
    say "Nothing was changed. Install them with this command and run this again:"
    say "  sudo ${command[*]}"
    exit 1
  fi
  say "Installing: $*"
  log=$(mktemp)
  if ! { apt-get update -qq && DEBIAN_FRONTEND=noninteractive "${command[@]}"; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    say "They could not be installed; the end of apt's output is above."
    exit 1
  fi
  rm -f "$log"
}

# --- Python ---------------------------------------------------------------------------------------
find_python() {
  local candidate
  for candidate in "${PYTHON:-}" python3 python3.13 python3.12 python3.11; do
    [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1 || continue
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      python=$candidate
      return
    fi
  done
  return 1
}
if ! find_python; then
  say "labapp needs Python 3.11 or newer with its venv module, and none was found."
  [ "$(uname -s)" = Linux ] || { say "Nothing was changed. Install it and run this again."; exit 1; }
  install_or_name python3 python3-venv
  find_python || { say "This system's own Python is too old; install 3.11 or newer."; exit 1; }
fi

# --- System libraries (Linux) ---------------------------------------------------------------------
# Asked of the loader itself: ldconfig is not on every user's path, nor on every system.
missing_libraries() {
  "$python" - <<'END'
import ctypes

NEEDED = """
libglib-2.0.so.0 libglib2.0-0
libEGL.so.1 libegl1
libGL.so.1 libgl1
libX11-xcb.so.1 libx11-xcb1
libxkbcommon.so.0 libxkbcommon0
libxkbcommon-x11.so.0 libxkbcommon-x11-0
libxcb-cursor.so.0 libxcb-cursor0
libxcb-icccm.so.4 libxcb-icccm4
libxcb-image.so.0 libxcb-image0
libxcb-keysyms.so.1 libxcb-keysyms1
libxcb-randr.so.0 libxcb-randr0
libxcb-render.so.0 libxcb-render0
libxcb-render-util.so.0 libxcb-render-util0
libxcb-shape.so.0 libxcb-shape0
libxcb-shm.so.0 libxcb-shm0
libxcb-sync.so.1 libxcb-sync1
libxcb-util.so.1 libxcb-util1
libxcb-xfixes.so.0 libxcb-xfixes0
libxcb-xkb.so.1 libxcb-xkb1
libdbus-1.so.3 libdbus-1-3
libfontconfig.so.1 libfontconfig1
libfreetype.so.6 libfreetype6
libportaudio.so.2 libportaudio2
"""
for library, package in (line.split() for line in NEEDED.strip().splitlines()):
    try:
        ctypes.CDLL(library)
    except OSError:
        print(package)
END
}

if [ "$(uname -s)" = Linux ]; then
  packages=()
  while read -r package; do packages+=("$package"); done < <(missing_libraries)
  fonts=$(find /usr/share/fonts /usr/local/share/fonts "${HOME:-/}/.fonts" "${HOME:-/}/.local/share/fonts" \
    -name '*.[ot]t[cf]' -print -quit 2>/dev/null || true)
  [ -n "$fonts" ] || packages+=(fonts-dejavu-core)
  if [ "$want" = test ]; then
    # A display and a microphone for the tests: each program, and the package that has it.
    for pair in Xvfb:xvfb xdotool:xdotool pulseaudio:pulseaudio pactl:pulseaudio-utils espeak-ng:espeak-ng ps:procps; do
      command -v "${pair%%:*}" >/dev/null || packages+=("${pair#*:}")
    done
    compgen -G '/usr/lib*/alsa-lib/libasound_module_pcm_pulse.so' >/dev/null ||
      compgen -G '/usr/lib/*/alsa-lib/libasound_module_pcm_pulse.so' >/dev/null ||
      packages+=(libasound2-plugins)
  fi
  [ ${#packages[@]} -eq 0 ] || install_or_name "${packages[@]}"
fi

# --- The data folder of a checkout ------------------------------------------------------------------
# What is recorded there is this user's alone, or the group's that LABAPP_GROUP names.
[ ! -d sessions ] || [ -n "${LABAPP_GROUP:-}" ] || chmod go-rwx sessions 2>/dev/null || true

# --- Python packages ------------------------------------------------------------------------------
# torch is 3 GB to download on Linux and serves graphics cards, training, explanations and some metrics.
# The tests need it, and it is small on other systems.
case "${TORCH:-}" in
  yes | no) torch=$TORCH ;;
  "")
    torch=no
    # There already: after make test, or TORCH=yes.
    if compgen -G "$venv/lib/python*/site-packages/torch" >/dev/null || [ "$want" = test ] || [ "$(uname -s)" != Linux ] || [ -e /proc/driver/nvidia/version ]; then torch=yes; fi
    ;;
  *)
    say "TORCH must be yes or no, not $TORCH. Nothing was changed."
    exit 2
    ;;
esac
if [ "$want" = test ] && [ "$torch" = no ]; then
  say "The tests need torch. Nothing was changed. Leave TORCH=no out."
  exit 2
fi
# The place counts too: programs in a virtual environment name their interpreter by its full path.
# What the tests need includes what the documentation needs.
[ "$want" != docs ] || [ ! -f "$venv/.labapp-test" ] || want=test stamp="$venv/.labapp-test"
fresh=$({ pwd; echo "$torch"; cat pyproject.toml constraints.txt locks/*.txt scripts/setup.sh; } | cksum)
place="$venv/.labapp-place"
if [ ! -f "$stamp" ] || [ "$(cat "$stamp")" != "$fresh" ] || ! "$venv/bin/python" -c '' 2>/dev/null; then
  say "Setting up Python packages in $venv (a few minutes the first time) ..."
  if ! "$venv/bin/python" -c '' 2>/dev/null || [ "$(cat "$place" 2>/dev/null || pwd)" != "$(pwd)" ]; then
    "$python" -m venv --clear "$venv"
  fi
  pwd >"$place"
  pip=("$venv/bin/python" -m pip --disable-pip-version-check --quiet)
  if [ "$torch" = yes ]; then
    # By version alone: its builds for processors and for graphics cards are different files.
    "${pip[@]}" install --constraint constraints.txt torch==2.13.0 captum
  else
    say "Without torch, which is 3 GB here: this computer has no NVIDIA graphics card that can be seen."
    say "Sessions, replay and analysis need none of it. For training, explanations, concept learners and"
    say "metrics that fit networks: TORCH=yes make setup"
  fi
  # Each file is refused unless it has the hash of the lock file, which names everything that is needed.
  # Python compiles what is used when it is used: everything would be 170 MB, and half a minute.
  "${pip[@]}" install --no-compile --no-deps --require-hashes --requirement "locks/$want.txt"
  "${pip[@]}" install --no-deps --constraint constraints.txt --editable .
  printf '%s' "$fresh" >"$stamp"
fi

# --- The words of the windows -----------------------------------------------------------------------
"$venv/bin/python" scripts/words.py
