#!/usr/bin/env bash
# Tries labapp in a bare Debian 12 that has no Python: as root, with debootstrap and a network for
# Debian's packages.
#
#   scripts/bare_root.sh WORK [DIST]
#
# The package of `make package`, without a network: a session with windows and sound, export,
# verification, analysis, an extra from a folder, and removal.
#
#   scripts/bare_root.sh --checkout WORK [WING]
#
# A clone of this checkout with the two commands of the README: `make demo` as it comes, `make test`
# of one wing (default: base), and `make demo` again with windows and sound.
#
# WORK: a folder for the bare root (1.5 GB, with a checkout 7 GB; used again). DIST: where the
# package is (default: dist). LABAPP_TRIAL_WHEELS: a folder of wheels; those of extras for the
# package, for a checkout all that pip would download (it then asks no index). Ends with 0 when all
# of it worked. Prints what took how long.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mode=package
if [ "${1:-}" = --checkout ]; then mode=checkout; shift; fi
work=${1:?the folder for the bare root}
mkdir -p "$work"
root=$(cd "$work" && pwd)/$mode-root

for tool in debootstrap unshare chroot zstd; do
  command -v "$tool" >/dev/null || { echo "$tool is missing: apt-get install debootstrap zstd"; exit 2; }
done
base=$(dirname "$root")/base
if [ ! -f "$base/.labapp-base" ]; then
  rm -rf "$base"
  debootstrap --variant=minbase bookworm "$base" >"$work/debootstrap.log"
  touch "$base/.labapp-base"
fi
# A checkout gets its Python, which is to be missing at first.
if [ "$mode" = checkout ]; then rm -rf "$root"; fi
[ -d "$root" ] || cp -a "$base" "$root"
# As this machine reaches Debian's packages.
cp /etc/apt/apt.conf.d/*proxy* "$root/etc/apt/apt.conf.d/" 2>/dev/null || true
clean() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 "$@"; }
inside() { clean chroot "$root" "$@"; }
trap 'umount "$root/proc" "$root/tmp" "$root/dev/shm" 2>/dev/null || true' EXIT

if [ "$mode" = checkout ]; then
  # What a checkout needs, by the README: make; and git to get it.
  inside apt-get update -qq
  inside apt-get install -y -qq --no-install-recommends git make ca-certificates >"$work/apt.log" 2>&1 ||
    { tail "$work/apt.log"; exit 1; }
  if inside sh -c 'command -v python3'; then echo "there is a Python in the bare root"; exit 1; fi
  rm -f "$root"/var/cache/apt/archives/*.deb
  mkdir -p "$root/trial/wheels"
  git clone --quiet --no-hardlinks "$here/.." "$root/root/labapp"
  index=()
  if [ -n "${LABAPP_TRIAL_WHEELS:-}" ]; then
    cp "$LABAPP_TRIAL_WHEELS"/*.whl "$LABAPP_TRIAL_WHEELS"/*.tar.gz "$root/trial/wheels/" 2>/dev/null || true
    index=(PIP_NO_INDEX=1 PIP_FIND_LINKS=/trial/wheels)
  fi
  cat >"$root/trial/root.sh" <<'END'
set -eu
mount -t proc proc /proc
mount -t tmpfs tmpfs /tmp
mkdir -p /dev/shm
mount -t tmpfs tmpfs /dev/shm 2>/dev/null || true
cd /root/labapp
took() { # what, command...
  what=$1; shift
  TIMEFORMAT="$(printf '%-28s' "$what")%7R s, of the processor %U + %S s"
  time "$@" >"/trial/$what.txt" 2>&1 || { status=$?; tail -n 60 "/trial/$what.txt"; echo "$what ended with $status"; exit 1; }
}
sizes() {
  echo "Debian's packages: $(du -cm /var/cache/apt/archives/*.deb | tail -n 1 | cut -f 1) MB;" \
    "the virtual environment: $(du -sm .venv | cut -f 1) MB;" \
    "pip's cache: $(du -cm /root/.cache/pip 2>/dev/null | tail -n 1 | cut -f 1) MB"
}
echo "the checkout: $(du -sm --exclude=.git . | cut -f 1) MB, its history $(du -sm .git | cut -f 1) MB"
took first-demo make demo
cat /trial/first-demo.txt
sizes
took prepared-demo make demo
took test make test WING="$1"
tail -n 5 /trial/test.txt
sizes
eval "$(sh scripts/virtual_microphone.sh start)"
Xvfb :7 -screen 0 1920x1080x24 -nolisten tcp >/tmp/xvfb.txt 2>&1 &
export DISPLAY=:7
for try in 1 2 3 4 5 6 7 8 9 10; do [ -S /tmp/.X11-unix/X7 ] && break; sleep 0.5; done
espeak-ng -w /tmp/speech.wav "one two three four five six seven eight nine ten eleven twelve"
(while :; do paplay --device=speaker /tmp/speech.wav || exit; done) &
took demo-with-windows make demo
cat /trial/demo-with-windows.txt
.venv/bin/labapp sessions list --data "$(ls -d out/demo-*/sessions | tail -n 1)"
ls -l out/demo-*/sessions/*/*/audio
sh scripts/virtual_microphone.sh stop
END
  unshare -m -p -f env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    "${index[@]}" chroot "$root" bash /trial/root.sh "${2:-base}" 2>&1
  echo "the checkout works in a bare root"
  exit 0
fi

dist=$(cd "${2:-$here/../dist}" && pwd)
deb=$(ls "$dist"/labapp_*_amd64.deb)
depends=$(dpkg-deb --field "$deb" Depends | sed 's/([^)]*)//g; s/,/ /g')
# What a desktop has, and what the trial itself needs: a display, a sound server, a clock.
inside apt-get update -qq
# shellcheck disable=SC2086
inside apt-get install -y -qq --no-install-recommends $depends fonts-dejavu-core libasound2-plugins \
  xvfb pulseaudio pulseaudio-utils procps >"$work/apt.log" 2>&1 || { tail "$work/apt.log"; exit 1; }
inside id lab >/dev/null 2>&1 || inside useradd --create-home lab
if ls "$root"/usr/bin/python* >/dev/null 2>&1; then echo "there is a Python in the bare root"; exit 1; fi

rm -rf "$root/trial" "$root/home/lab/away"
mkdir -p "$root/trial/wheels"
cp "$deb" "$here/virtual_microphone.sh" "$root/trial/"
cp "${LABAPP_TRIAL_WHEELS:-/nowhere}"/*.whl "$root/trial/wheels/" 2>/dev/null || true
chmod -R a+rX "$root/trial"  # pip keeps some files for its own user
mkdir "$root/home/lab/away"
tar --directory "$root/home/lab/away" --use-compress-program="zstd -d --long=27" \
  --extract --file "$dist"/labapp-*-linux-x64.tar.zst

inside chown -R lab:lab /home/lab/away

cat >"$root/trial/user.sh" <<'END'
set -eu
took() { # what, command...
  what=$1; shift
  begin=$(date +%s.%N)
  "$@" >"/tmp/$what.txt" 2>&1 || { status=$?; cat "/tmp/$what.txt"; echo "$what ended with $status"; exit 1; }
  end=$(date +%s.%N)
  printf '%-28s %6.2f s\n' "$what" "$(echo "$end $begin" | awk '{print $1 - $2}')"
}
cd "$HOME"
for turn in 1 2 3; do took "version-$turn" labapp --version; done
cat /tmp/version-1.txt
eval "$(sh /trial/virtual_microphone.sh start)"
Xvfb :7 -screen 0 1920x1080x24 -nolisten tcp >/tmp/xvfb.txt 2>&1 &
export DISPLAY=:7
for try in 1 2 3 4 5 6 7 8 9 10; do [ -S /tmp/.X11-unix/X7 ] && break; sleep 0.5; done
python=/opt/labapp/python/bin/python3
$python - <<'PY'
import math, struct, wave
with wave.open("/tmp/tone.wav", "wb") as tone:
    tone.setnchannels(1), tone.setsampwidth(2), tone.setframerate(48000)
    tone.writeframes(b"".join(struct.pack("<h", int(9000 * math.sin(i / 20))) for i in range(48000 * 20)))
PY
(while :; do paplay --device=speaker /tmp/tone.wav || exit; done) &
speaking=$!
took doctor labapp doctor || true
grep -v "^ALSA" /tmp/doctor.txt
took session labapp run quickstart --participant P01 --simulate ascent
session=$(ls -d "$HOME"/.local/share/labapp/sessions/quickstart/*)
ls -l "$session" "$session"/audio
$python - "$session" <<'PY'
import array, pathlib, sys, wave
(sound, *_) = sorted(pathlib.Path(sys.argv[1], "audio").glob("*.wav"))
with wave.open(str(sound)) as recorded:
    values = array.array("h", recorded.readframes(recorded.getnframes())[: 2 * recorded.getnframes()])
    print(f"{sound.name}: {recorded.getnframes() / recorded.getframerate():.1f} s, loudest {max(values)}")
assert max(values) > 1000, "silence"
PY
took verify labapp sessions verify "$session"
took export labapp export "$session" --out bundle
took verify-bundle labapp sessions verify bundle
took analyze labapp analyze "$session" --out results
test -s results/report.html
echo "--- a user may not change it"
if labapp extras add lsl --from /trial/wheels; then echo "a user could"; exit 1; fi
kill $speaking
echo "--- the archive, in a folder of this user's"
away=$(ls -d "$HOME"/away/labapp-*)
mv "$away" "$HOME/away/a folder"
took archive-version "$HOME/away/a folder/labapp" --version
if ls /trial/wheels/*.whl >/dev/null 2>&1; then
  took extra-from-folder "$HOME/away/a folder/labapp" extras add lsl --from /trial/wheels
  tail -n 1 /tmp/extra-from-folder.txt
fi
"$HOME/away/a folder/labapp" extras
END

cat >"$root/trial/root.sh" <<'END'
set -eu
mount -t proc proc /proc
mount -t tmpfs tmpfs /tmp
mount -t tmpfs tmpfs /dev/shm 2>/dev/null || true
chmod 1777 /tmp
rm -rf /home/lab/.local /home/lab/.config /home/lab/.cache /home/lab/bundle /home/lab/results
begin=$(date +%s.%N)
dpkg -i /trial/labapp_*_amd64.deb
echo "dpkg -i $(echo "$(date +%s.%N) $begin" | awk '{printf "%.1f", $1 - $2}') s"
du -sm /opt/labapp
env -i PATH=/usr/bin:/bin HOME=/home/lab USER=lab LC_ALL=C.UTF-8 setpriv --reuid lab --regid lab --clear-groups sh /trial/user.sh
dpkg -r labapp
test ! -e /opt/labapp
test -d /home/lab/.local/share/labapp/sessions
echo "removed; the sessions are still there"
END
unshare -m -p -n -f env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
  chroot "$root" sh /trial/root.sh
echo "the package works in a bare root"
