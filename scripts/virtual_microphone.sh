#!/bin/sh
# A microphone for machines without a sound card: a private PulseAudio daemon whose sink `speaker`
# is heard by its source `mic`.
#
#   eval "$(scripts/virtual_microphone.sh start)"     start it (or find it running) and use it
#   paplay --device=speaker speech.wav                speak into it
#   scripts/virtual_microphone.sh status              running or not (exit status 0 or 3)
#   scripts/virtual_microphone.sh stop                end it
#
# It lives in the folder $LABAPP_VIRTUAL_MICROPHONE (default: a folder of this user under the
# temporary folder), so that it never meets a desktop's own sound server. `start` prints the
# variables a program needs; they must be set before the program first asks for a sound device.
set -eu

folder="${LABAPP_VIRTUAL_MICROPHONE:-${TMPDIR:-/tmp}/labapp-virtual-microphone-$(id -u)}"
pid_file="$folder/pulse/pid"
socket="$folder/pulse/native"

say() { printf '%s\n' "$*" >&2; }

# A private PulseAudio: nothing of the caller's own sound server may lead elsewhere.
use_private() {
    unset PULSE_SINK PULSE_SOURCE PULSE_CLIENTCONFIG PULSE_CONFIG_PATH DISPLAY || true
    export XDG_RUNTIME_DIR="$folder"
    export PULSE_RUNTIME_PATH="$folder/pulse"
    export PULSE_STATE_PATH="$folder/state"
    export PULSE_COOKIE="$folder/cookie"
    export PULSE_SERVER="unix:$socket"
}

# The pid of our daemon, if it is alive and really a PulseAudio.
running() {
    [ -r "$pid_file" ] || return 1
    pid=$(cat "$pid_file")
    [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null || return 1
    # A bare machine has no ps.
    case "$(cat "/proc/$pid/comm" 2>/dev/null || ps -o comm= -p "$pid" 2>/dev/null)" in
        *pulseaudio*) echo "$pid" ;;
        *) return 1 ;;
    esac
}

print_exports() {
    for name in XDG_RUNTIME_DIR PULSE_RUNTIME_PATH PULSE_STATE_PATH PULSE_COOKIE PULSE_SERVER; do
        eval "value=\$$name"
        printf "export %s='%s'\n" "$name" "$(printf %s "$value" | sed "s/'/'\\\\''/g")"
    done
}

# pulseaudio --start returns before its sources can be used: wait until `mic` answers.
wait_until_heard() {
    tries=0
    until pactl list short sources 2>/dev/null | grep -q "	mic	"; do
        tries=$((tries + 1))
        if [ "$tries" -ge 100 ]; then
            say "The sound server started but its source 'mic' did not appear within 10 s."
            exit 1
        fi
        sleep 0.1
    done
    pactl set-default-source mic
    pactl set-default-sink speaker
}

start() {
    for tool in pulseaudio pactl; do
        if ! command -v "$tool" >/dev/null 2>&1; then
            say "$tool is missing. On Debian or Ubuntu:"
            say "  sudo apt-get install -y pulseaudio pulseaudio-utils libasound2-plugins libportaudio2"
            exit 1
        fi
    done
    # The folder holds the socket of the server: another user's folder of that name is not ours.
    mkdir -p "$folder"
    [ -O "$folder" ] || { say "$folder belongs to another user."; exit 1; }
    chmod 700 "$folder"
    mkdir -p "$folder/pulse" "$folder/state"
    use_private
    if ! running >/dev/null; then
        rm -f "$pid_file" "$socket"
        pulseaudio --daemonize=yes --exit-idle-time=-1 --disallow-exit --use-pid-file=yes -n \
            --log-target="file:$folder/pulseaudio.log" \
            -L "module-null-sink sink_name=speaker rate=48000" \
            -L "module-native-protocol-unix" \
            -L "module-remap-source master=speaker.monitor source_name=mic" >&2 || {
                say "PulseAudio could not be started; see $folder/pulseaudio.log"
                exit 1
            }
    fi
    wait_until_heard
    print_exports
}

stop() {
    use_private
    if pid=$(running); then
        kill "$pid"
        tries=0
        while kill -0 "$pid" 2>/dev/null; do
            tries=$((tries + 1))
            [ "$tries" -lt 50 ] || { kill -9 "$pid" 2>/dev/null || true; break; }
            sleep 0.1
        done
        say "Virtual microphone stopped (pid $pid)."
    else
        say "The virtual microphone was not running."
    fi
    rm -f "$pid_file" "$socket"
}

status() {
    if pid=$(running); then
        say "Virtual microphone running (pid $pid) in $folder"
    else
        say "The virtual microphone is not running."
        exit 3
    fi
}

case "${1:-}" in
    start) start ;;
    stop) stop ;;
    status) status ;;
    *)
        say "usage: $0 start|stop|status"
        exit 2
        ;;
esac
