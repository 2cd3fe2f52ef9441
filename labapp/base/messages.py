"""Sentences that lower layers say of what happens, as a code and values.

Journals, logs and commands have them in English. A window in another language says the same from
the code and the values, which events carry beside the English text (see `MessagePayload`).
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import Any, Self

FORMS: Mapping[str, str] = {
    "disk_free": "{size} {unit} free",
    "pictures_slow": "one in a hundred takes {ms} ms or more",
    "pictures_unshown": "The pictures of the model {model} cannot be shown here: {why}",
    "pictures_unshown_safe": "The session was only read; its sound and all else can be replayed.",
    "pictures_unshown_todo": (
        "Install {model} as it was in the session, then open the session again."
    ),
    "pictures_of_another": (
        "The model {model} here is another one than in the session: its pictures may differ from "
        "those that were seen."
    ),
    "sound_disk_low": "Only {size} MB free: {minutes} min of sound",
    "sound_not_written": "Sound cannot be written: {error}",
    "sound_library": "The sound library PortAudio could not be loaded: {error}.",
    "portaudio_refused": "the sound system cannot use it, and gives no reason (PortAudio {code})",
    "portaudio_format": "it does not offer the kind of sound that is needed (PortAudio {code})",
    "portaudio_gone": "it is not there any more (PortAudio {code})",
    "portaudio_memory": "the computer has too little free memory (PortAudio {code})",
    "portaudio_late": "it did not answer in time (PortAudio {code})",
    "portaudio_in_use": "another program uses it, or it was unplugged (PortAudio {code})",
    "portaudio_unknown": "the sound system reports an error (PortAudio {code})",
    "sound_system": "The sound system could not be started: {error}.",
    "sound_devices": "The sound devices could not be listed: {error}.",
    "speaker_not_opened": "The sound output could not be opened ({problem}).",
    "speaker_none": "This computer has no sound output.",
    "speaker_no_answer": "The sound output did not answer.",
    "speaker_lost": "The sound output is gone.",
    "speaker_stalled": "The sound output takes no sound.",
    "sound_file_missing": "The sound file {file} is not there",
    "sound_file_unreadable": "The sound file {file} cannot be read: {why}",
    "sound_file_other": (
        "The sound file {file} is not the recorded one: it has {rate} Hz, not {recorded}"
    ),
    "sound_file_no_time": "The sound file {file} has no place in time: {why}",
    "sound_file_cut": "The sound file {file} ends {seconds} s too early",
    "sound_file_longer": (
        "The sound file {file} goes on for {seconds} s after its end; that is not played"
    ),
    "microphone_not_opened": "The microphone {name} could not be opened: {problem}.",
    "microphone_no_answer": "The microphone {name} did not answer.",
    "microphone_lost": "Microphone lost: {reason}",
    "microphone_stalled": "no sound arrived for {seconds} s",
    "the_microphone": "the microphone",
    "microphone_ended": "the recording from {source} ended",
    "microphone_moved": "{source} is gone; the sound server moved the recording to {other}",
    "microphone_dead": "{device} gives no sound",
    "lsl_missing": "The package pylsl is not installed: events cannot be sent over LSL.",
    "lsl_library": "The library liblsl could not be loaded: {error}",
    "lsl_streams": "The LSL streams could not be opened: {error}",
    "lsl_failed": "Events are not sent over LSL any more: {error}",
    "lsl_not_again": "This run was begun without LSL; runs before it sent their events",
    "network_drive": (
        "On a network drive ({kind}): a session can be damaged there. Record on a local disk."
    ),
    "consent_not_stored": "Consent could not be stored in the private folder {folder} ({why}).",
    "withdrawn_kept": "{folder}: withdrawn, its data are kept.",
    "withdrawn_deleted": "{folder}: withdrawn, its data are deleted.",
    "withdrawn_cells": "Free again: {cells}.",
    "withdrawn_cleared": "Removed what a killed program had left: {paths}.",
    "withdrawn_quoted": (
        "Codebooks of the study still quote words of it: {files}. Take the words out of the "
        "codebook itself; `labapp code codebook STUDY --withhold` takes all free text out of the "
        "stored versions."
    ),
    "withdrawn_bundles": "Bundles that still hold it: {paths}",
    "withdrawn_units": "Its units were deleted.",
    "withdrawn_texts": "Its texts were deleted.",
    "withdrawn_codes": "Its codes were deleted.",
    "withdrawn_videos": (
        "Its videos were deleted here ({count}); the files they were copied from were not."
    ),
    "withdrawn_handed_out": "What was handed out still holds something of it: {files}",
    "withdrawn_sent": (
        "Its events were sent over LSL; where recordings of the source {source} lie is not known."
    ),
    "handed_out_unreadable": "What was handed out of it is not known: {why}",
    "withdrawn_others": (
        "Folders that were renamed and hold sessions of the participant. They are as they were: "
        "{folders}. Give them their names back and withdraw them."
    ),
    "renamed": (
        "The session folder {folder} was renamed. Its journal is of participant {participant}, "
        "session {session}, and counts as theirs. Give the folder its name back."
    ),
    "unread_session": (
        "Nobody is counted for the session folder {folder}: its journal is missing or damaged. Its "
        "label is not given to anybody else. `labapp sessions show {folder}` says what is wrong."
    ),
    "held_twice": (
        "Session {session} of {participant} is there twice and counts once: {folders}. If two data "
        "folders were put together, keep them apart: labels that stand for two people cannot be "
        "told apart in one folder."
    ),
    "decided_excluded": "{folder}: excluded by hand. Its data stay.",
    "place_free": "{participant} does not count now and holds no place of the study.",
    "place_kept": "{participant} can still count with their other sessions and keeps their place.",
    "place_beyond": (
        "{count} participants now hold the {wanted} places of {cell}: the place of {participant} "
        "had been given to somebody else. Exclude one of them, or analyse them all."
    ),
    "decided_included": "{folder}: counts, by a decision by hand.",
    "decided_over_rules": "It counts although it does not meet: {rules}.",
    "decided_before": "Before, it was {verdict} by hand{why}. The former decision is kept.",
    "moved_in": "{folder} counts in the study from now on. It is now in {path}.",
    "moved_back": "{folder} is a pilot again and counts nowhere. It is now in {path}.",
    "decided_bundles": "Bundles made of it before say nothing of this: {paths}",
    "exports_unreadable": "{file} cannot be read ({error}): exports are not known",
    "speech_model_whisper": (
        "a folder with model.bin, config.json and tokenizer.json (Whisper for CTranslate2)"
    ),
    "speech_get_whisper": (
        "Systran/faster-whisper-small at huggingface.co, all files of it in one folder"
    ),
    "speech_model_whispercpp": "a file such as ggml-small.bin (Whisper for whisper.cpp)",
    "speech_get_whispercpp": "ggml-small.bin of ggerganov/whisper.cpp at huggingface.co",
    "speech_model_vosk": "a folder with am/final.mdl (Vosk), of one language",
    "speech_get_vosk": (
        "vosk-model-small-en-us-0.15 or vosk-model-small-de-0.15 at alphacephei.com/vosk/models, "
        "unpacked"
    ),
    "speech_which": (
        "A Whisper model whose name ends in .en knows English alone; German needs one without, "
        "best small or larger."
    ),
    "times_session": "Times are session times.",
    "times_file": "Times are those of {file}.",
    "times_session_said": "Times are session times, as the file says.",
    "times_file_said": "Times are those of {file}, as the file says.",
    "times_session_csv": "Times are session times, as in every CSV.",
    "times_file_named": "Times are those of {file}, by the name of {media}.",
    "times_session_long": "Times are session times, for the file is as long as the session.",
    "times_session_silent": "Times are session times, for there is no sound.",
    "times_file_only": (
        "Times are taken as those of {file}, the only sound. Say --time session if the file was "
        "made without sound."
    ),
    "time_of_other": "{name} is on {media}, which is no sound file of this session.",
    "time_of_none": "Nothing in {name} says which of the session's {n} sound files it is on.",
    "time_say": "Say whose time it has, --time with: {known}.",
    "lost_word_times": "the times of single words ({n} units have them)",
    "lost_wordless": "{n} units without words",
    "lost_wordless_empty": "{n} units without words: an empty interval is none",
    "lost_memos": "{n} remarks on codes",
    "lost_unread": (
        "that nobody has read the words of {n} units against the sound: a speech model wrote them, "
        "or they were brought in"
    ),
    "lost_rounds": "{n} marks of other rounds than {round}",
    "lost_codebooks": "{n} marks by another codebook than {codebook}",
    "lost_marks_outside": "{n} marks where there is no sound (--no-sound takes them along)",
    "lost_units_outside": "{n} units where there is no sound (--no-sound takes them along)",
    "lost_of": "of {file}: {why}",
    "lost_ends": "the ends of {n} marks and units behind the end of {file}",
    "lost_sound": "the sound, which the participant did not agree to pass on",
    "lost_words": "what was said, which the participant did not agree to have written down",
    "lost_all_units": "{n} units and their words",
    "lost_moment_ends": "the ends of {n} stretches whose codes are of moments",
    "lost_marks": "{n} codes",
    "lost_rules": "which codes exclude each other, what they are given to, and the keys",
    "lost_retired": "{n} codes that are not given any more",
    "not_changed": "It was not changed.",
    "nothing_written": "Nothing was written.",
    "nothing_brought_in": "Nothing was brought in.",
    "file_there": "{path} exists already.",
    "name_other": "Name another.",
    "file_unwritable": "{path} cannot be written ({why}).",
    "file_not_confirmed": "{path} was written, but {why}.",
    "file_whole": "The file is there and whole. A power cut could still lose it.",
    "make_room_or_other": "Make room, or name another place.",
    "file_unreadable": "{name} cannot be read: {why}.",
    "save_anew": "Save it anew in the other tool, and try again.",
    "participant_withdrew": "The participant of {session} withdrew.",
    "export_other": "Export another session.",
    "voice_not_shared": "The participant of {session} did not agree that their voice is passed on.",
    "export_silent": "Export without sound (--no-sound); times are session time then.",
    "bring_in_as_other": (
        "Bring the file in as another rater, or settle what differs (labapp code adjudicate)."
    ),
    "units_open": (
        "{session} has units that are not frozen, and codes of {codebook} are given to units."
    ),
    "units_none": "{session} has no units yet, and codes of {codebook} are given to units.",
    "freeze_first": "Make and freeze them first: labapp code segment {session} --freeze",
    "no_marks": "{rater} gave no marks in {session}.",
    "there_are": "There are: {known}.",
    "file_of_other": (
        "{name} went out of the session {other}, not of {session}: its times mean nothing here."
    ),
    "name_its_session": "Name the session that it is of.",
    "file_of_no_kind": "{path} is of no kind that can be brought in.",
    "give_ending": (
        "Give a file whose name ends with {ends}. A codebook (.qdc) is read by labapp code "
        "codebook STUDY --from FILE.qdc; a transcript in a text or Word file has to be saved as "
        "captions (.vtt or .srt) in the program that made it."
    ),
    "engine_missing": "The engine for {path} is not installed: {engine}.",
    "engine_install": "Install it: {command}",
    "model_none": "There is no model at {path}.",
    "model_useless": "{path} is no model that an engine here can run: {why}.",
    "exports_damaged": ("{file}, line {number}: damaged; what it says of an export is not known"),
    "nothing_changed": "Nothing was changed.",
    "text_not_agreed": "The participant did not agree that what was said is written down.",
    "text_not_agreed_todo": "Code the units by ear.",
    "text_unwritten": "The unit {unit} has no text that could be read.",
    "text_unwritten_todo": "Write it first.",
    "redaction_empty": "What is redacted has a length.",
    "redaction_unknown": "There is no redaction {redaction}.",
    "end_before_beginning_todo": "Let its end come behind its beginning.",
    "unit_split_outside": "A unit can be split only between its beginning and its end.",
    "unit_merged_with_itself": "A unit cannot be merged with itself.",
    "unit_merged_speakers": "Units of two speakers cannot be merged.",
    "unit_merged_speakers_todo": "Give both the same speaker first, if it is the same person.",
    "units_none_to_freeze": "There are no units that could be frozen.",
    "units_none_to_freeze_todo": (
        "Make them first: `labapp code segment`, or by hand in the window."
    ),
    "units_there": "{session} has units already: {n}.",
    "units_there_todo": "Change them in the window, or freeze them with --freeze.",
    "units_overlap": "Two units of the same speaker would overlap at {at} s.",
    "units_overlap_todo": "Move a boundary, merge them, or give one of them another speaker.",
    "unit_empty": "A unit cannot begin at {begin} s and end at {end} s.",
    "unit_id_used": "The id {unit} was a unit's before; take another one.",
    "unit_unknown": "There is no unit {unit} (any more).",
    "proposal_unknown": "No proposal {proposal} waits.",
    "proposal_unknown_todo": "It may be settled already.",
    "no_speech": "No speech was heard in {session}.",
    "no_speech_todo": "Listen to it (`labapp replay`), and make its units by hand.",
    "mark_unknown": "{rater} gave no mark {mark}.",
    "cannot_be_coded": "This cannot be coded: {why}.",
    "code_unknown": "there is no code {code} in the codebook {codebook}",
    "code_of_another_tier": "the code {code} is of the tier {other}, not of {tier}",
    "code_retired": "the code {code} is not given any more ({why})",
    "code_for_units": "codes of the tier {tier} are given to units, and this is none",
    "code_for_spans": "codes of the tier {tier} are given to spans, not to units",
    "span_empty": "a span cannot begin at {begin} s and end at {end} s",
    "point_long": "a point cannot begin at {begin} s and end at {end} s",
    "value_unknown": "the tier {tier} has no value {value} (allowed: {allowed})",
    "marks_locked": (
        "The marks of {rater} in the round {round} are locked: agreement was computed from them."
    ),
    "marks_locked_todo": "What was settled afterwards is coded in the round reconciled.",
    "settled_without_reason": "What is settled has a reason.",
    "settled_without_reason_todo": "Say in a few words why.",
    "settlement_unknown": "Nothing is settled under {settlement}.",
    "coding_bundle": "{session} is a bundle: what was exported is not written to.",
    "coding_bundle_todo": "Code the session in the study's folder, and export it again.",
    "coding_recorded": "{session} is being recorded.",
    "coding_recorded_todo": "Code it once the session is over.",
    "coding_withdrawn": "The participant of {session} withdrew: it is not coded any more.",
    "coding_withdrawn_todo": ("Where the data are to go, `labapp sessions withdraw` deletes them."),
    "annotations_busy": "{file} is open in another window.",
    "annotations_busy_todo": ("Close that window first. Two would write over each other's work."),
    "annotations_disk_full": "The disk is full: {file}.",
    "annotations_unwritable": "It cannot be written ({why}): {file}.",
    "annotations_safe": "Everything before it is stored.",
    "disk_make_room": "Make room on this disk.",
    "folder_see_rights": "See that you may write to this folder.",
    "place_line": "line {line}",
    "place_tier": "tier {tier}",
    "place_timed": "{place} ({time})",
    "place_speech": "speech",
    "place_sound": "a sound without a name",
    "place_words": "the words of {sound}",
    "place_transcript": "the transcript of {sound}",
    "place_words_beside": "the words",
    "speaker_participant": "the participant",
    "speaker_moderator": "the moderator",
    "speaker_other": "somebody else",
    "left_what": "{what}: {why}",
    "left_mark": "{place}: {what}: {why}",
    "left_several": "{n} of {what}",
    "left_unknown": "{what} ({why})",
    "left_tier": (
        "{n} codes of the tier {tier}, which the codebook does not have. If they are not codes, "
        "add this line to the table for --map (in the window: Names…): {row}"
    ),
    "map_unused": "{what} of the map, which the file does not have",
    "map_words": "it is speech, and the map makes a code of it ({to})",
    "tiers_of_words": (
        "These tiers seem to hold words and not codes, and the study has no codebook: {tiers}."
    ),
    "tiers_say": (
        "Say what they hold in a table (--map, in the window: Names…). Its first line is "
        "tier,code,to_tier,to_code. Words have lines such as:\n{rows}\nFor the moderator's words "
        "write speech: moderator, for codes the name of the tier again, and nothing for what is "
        "not needed, such as a second tier with what is said at the same time."
    ),
    "left_by_map": "{n} of {what}, which the map leaves out",
    "left_session": "what is of the session {session}",
    "left_media": "{media}, which is no sound file of this session",
    "mark_gone_here": "the mark was taken away here since",
    "mark_changed_here": "the mark was changed here, too, and stays as it is",
    "mark_stays": (
        "{n} mark that is here is not in the file; nothing says that it went out with it, "
        "so it stays"
    ),
    "marks_stay": (
        "{n} marks that are here are not in the file; nothing says that it went out with "
        "them, so they stay"
    ),
    "mark_gone_there": "{mark} at {at} was taken away there and changed here: it stays",
    "mark_memo_redacted": "the remark on {mark} at {at}, of which something is redacted",
    "mark_no_unit": "no unit is there, and codes of this tier are given to units",
    "mark_of_moment": "{mark} is of a moment: its beginning was taken",
    "mark_code_none": "the codebook has no such code any more",
    "mark_code_retired": "the code is not given any more",
    "mark_value_none": "the tier {tier} has no value {value}",
    "mark_moments": "{code} is given to moments",
    "mark_stretches": "{code} is given to stretches, and this is a moment",
    "mark_on_units": "codes of the tier {tier} are given to units",
    "mark_on_spans": "codes of the tier {tier} are given to spans",
    "outside_session": "it lies outside of the session",
    "tiers_have_code": "of the codebook {codebook}, several tiers have a code {code}",
    "no_tier_has_code": "of the codebook {codebook}, no tier has a code {code}",
    "codebook_no_tier": "the codebook {codebook} has no tier {tier}",
    "tier_no_code": "the tier {tier} has no code {code}",
    "code_not_given": "the code {code} is not given any more",
    "code_instead": "the code {code} is not given any more; instead: {later}",
    "step_without": "without a value or remark",
    "step_to_go": "there; to go",
    "step_where": "{mark}, where {code} is now",
    "step_unit": "{begin}–{end} {speaker}",
    "unit_gone_here": "the unit was taken away here since",
    "unit_no_length": "a unit has a length",
    "unit_moved_here": "the boundaries of the unit at {at}, which were moved here too",
    "unit_words_here": "the words of the unit at {at}, which were changed here, too",
    "unit_words_redacted": "the words of the unit at {at}, of which something is redacted",
    "unit_gone_there": "the unit at {at} was taken away there and moved here: it stays",
    "units_unwritten": (
        "the words of {n} units: the participant did not agree that what was said is written down"
    ),
    "voice_unknown": (
        "who {name} is (units: {n}). They are somebody else's here. To say who it is, add this "
        "line, or one with speech: participant, to the table for --map (in the window: Names…): "
        "{row}"
    ),
    "voice_unsaid": (
        "who speaks (units: {n}): the file does not say it, and they are taken as the "
        "participant's. labapp code speakers shows and changes that."
    ),
    "units_over_units": (
        "units of the file that overlap units here: {n}. To put their words into the units that "
        "they overlap most, use --words-into-units (in the window: Words into units)."
    ),
    "words_without_unit": "no unit is there that could have these words",
    "words_with_others": "the unit there has other words, which stay",
    "words_of_unit": "the words for the unit at {at}",
    "cue_cut": "it begins at {at}, when the one before it ends, and not earlier",
    "cue_joined": "it lies within the one at {at}, which has its words too",
    "unit_overlaps": "the unit of {speaker} at {begin}–{end}: it would overlap another one",
    "cue_no_length": "a cue without a length ({text})",
    "cue_no_times": "a cue whose times cannot be read ({text})",
    "cue_no_words": "a cue without words",
    "row_no_times": "{text} has no times",
    "row_reversed": "{text} ends at {end} s, before it begins at {begin} s",
    "row_empty": "an annotation at {at} s is empty",
    "point_speech": "the point {text}, for speech has a length",
    "columns_other": "the columns {columns}",
    "row_no_time": "{text} is no time in seconds",
    "row_no_end": "{text} is no end behind {begin}",
    "row_speech_end": "speech has an end",
    "row_no_tier": "it has no tier",
    "row_no_code": "it has no code",
    "project_silent": "the sound: a silent one stands for it, so that codes have times",
    "project_large": "{file} has more than the 2 GiB that the standard allows: it may be refused",
    "project_renamed": "that the code {before} is called {name} there",
    "project_gone": "{sound}, which is not in the file any more: its codes stay",
    "project_coders": "who gave which code: they are of {who}, and all are taken",
    "project_other": "{what}, {name}, with {n} codes, which have no time",
    "project_other_one": "{what}, {name}, with {n} code, which has no time",
    "project_other_uncoded": "{what}, {name}",
    "project_picture": "a picture",
    "project_pdf": "a PDF",
    "project_text": "a text",
    "project_unknown": "a source of another kind",
    "project_unnamed": "without a name",
    "project_cases": "{n} cases",
    "project_cases_one": "{n} case",
    "project_variables": "{n} variables",
    "project_variables_one": "{n} variable",
    "project_links": "{n} links",
    "project_links_one": "{n} link",
    "project_sets": "{n} sets",
    "project_sets_one": "{n} set",
    "project_graphs": "{n} graphs",
    "project_graphs_one": "{n} graph",
    "project_notes": "{n} notes",
    "project_notes_one": "{n} note",
    "sound_codes": "{n} codes of {sound} as a whole: they have no time",
    "sound_codes_one": "{n} code of {sound} as a whole: it has no time",
    "sound_no_units": "units and words, of which the other tool did not keep the times",
    "sound_notes": "{n} notes on codes",
    "sound_notes_one": "{n} note on a code",
    "sound_unknown": "{n} codes that the file does not name",
    "sound_unknown_one": "{n} code that the file does not name",
    "sound_bare": "{n} selections without a code",
    "sound_bare_one": "{n} selection without a code",
    "sound_no_times": "{begin} to {end} are no times",
    "words_none": "{name}, whose text is not in the file",
    "words_times": "{n} times in the text that are of no unit",
    "words_times_one": "{n} time in the text that is of no unit",
    "words_no_times": "it has no times",
    "words_other": "its words, which are not those of the transcript",
    "words_when": "{n} codes, of which nothing says when they are",
    "words_when_one": "{n} code, of which nothing says when it is",
    "words_no_unit": "it is on no words of a unit",
    "words_parts": "which part of a unit's words {n} codes are on",
    "words_parts_one": "which part of a unit's words {n} code is on",
    "words_stay": (
        "{code} at {at} s was taken away from the sound, but not from the words: it stays"
    ),
    "words_changed": "{code} at {at} s, which was changed on the words, too",
    "words_taken": "that {n} codes were taken away from {name}: they stay on the sound",
    "words_taken_one": "that {n} code was taken away from {name}: it stays on the sound",
    "video_unreadable": "{name} is no video that can be read: {why}.",
    "video_play": (
        "Play it in a player; where it plays there, save it as an MP4 file, and take that."
    ),
    "video_no_picture": "it has no picture",
    "video_no_codec": "its pictures are of a kind that FFmpeg does not know",
    "video_pixels": "its pictures have {width} × {height} pixels",
    "video_no_readable": "it has no picture that could be read",
    "video_long": "it is longer than a day",
    "video_ffmpeg": "FFmpeg says: {why}",
    "video_empty": "it is empty",
    "video_list": "it is a list of other files, and no video itself",
    "video_other": "it begins as no MP4, MOV, Matroska, WebM, AVI, MPEG, WMV, Ogg or FLV file does",
    "video_memory": "it needs more memory than there is",
    "video_gone": "it is not there",
    "marks_other_codebook": "{rater} gave no marks in {session} by a codebook {codebook}.",
    "marks_by": "There are marks by: {known}.",
    "marks_by_none": "There are none by any codebook.",
    "marks_several": "{rater} coded {session} by several codebooks: {known}.",
    "marks_name_codebook": "Name one with --codebook; each goes into a file of its own.",
    "session_withdrew": "{session} is of a participant who withdrew.",
    "name_session": "Name the session itself.",
    "bring_in_later": "Bring the file in once the session is over.",
    "bring_in_no_more": "Bring nothing of it in any more.",
    "speech_kind": "{model}: {get}",
    "speech_to_get": "What can be had: {whisper}; {whispercpp}; {vosk}. {which}",
    "speech_path": (
        "Give the path of a file or a folder on this computer: labapp fetches nothing. {get}"
    ),
    "speech_unreadable": "{path} cannot be read ({why}).",
    "speech_see": "See that you may read it.",
    "model_archive": (
        "it is an archive, to be unpacked first, or a .pt file of PyTorch, which no "
        "engine here reads"
    ),
    "model_gguf": "it is a GGUF file, which whisper.cpp does not read",
    "model_no_ggml": "it does not begin as a ggml file does",
    "model_no_tokenizer": "tokenizer.json is missing, without which it cannot be used",
    "model_transformers": (
        "it is a model for the library transformers; ct2-transformers-converter (of "
        "ctranslate2) makes one for faster-whisper of it"
    ),
    "model_neither": "it has neither model.bin and config.json nor am/final.mdl",
    "model_inside": "but {path} in it is one",
}
"""The English sentences by their codes. A code keeps its meaning and the names of its values: it
stands in journals. The words can be bettered."""

Value = str | int | float


class Message(str):
    """One of these sentences in English, which still knows its code and values.

    Attributes
    ----------
    code : of `FORMS`.
    values : by name numbers, texts, and sentences within this one.
    """

    code: str
    values: dict[str, Value]

    def __new__(cls, code: str, /, **values: Value) -> Self:
        """Raises KeyError for a code or a value that there is not."""
        text = FORMS[code].format(**{name: _english(value) for name, value in values.items()})
        message = super().__new__(cls, text)
        message.code, message.values = code, values
        return message

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.code, self.values)

    @property
    def form(self) -> str:
        """The sentence with names in place of its values."""
        return FORMS[self.code]


def counted(code: str, n: int, /, **values: Value) -> Message:
    """A sentence with a number: that of `code` followed by `_one` for a single thing."""
    return Message(f"{code}_one" if n == 1 else code, n=n, **values)


def _again(code: str, values: Mapping[str, Value]) -> Message:
    return Message(code, **values)


def _english(value: Value) -> str:
    if isinstance(value, int):
        return str(value)
    return value if isinstance(value, str) else f"{value:g}"


def coded(text: str) -> dict[str, Any]:
    """Code and values of a message, as plain values; nothing of any other text."""
    if not isinstance(text, Message):
        return {}
    values = {
        name: coded(value) if isinstance(value, Message) else value
        for name, value in text.values.items()
    }
    return {"code": text.code, "values": values}


def decoded(text: str, stored: Any) -> str:
    """The message whose code and values were stored beside a text; the text itself where they do
    not say the same, as in journals of earlier versions, or in other words of this one."""
    message = _message(stored, 0)
    return text if message is None or message != text else message


def _message(stored: Any, depth: int) -> Message | None:
    match stored:
        case {"code": str(code), "values": dict(values)} if code in FORMS and depth <= 3:
            if {name for _, name, *_ in Formatter().parse(FORMS[code]) if name} != values.keys():
                return None
        case _:
            return None
    read: dict[str, Value] = {}
    for name, value in values.items():
        inner = _message(value, depth + 1) if isinstance(value, dict) else value
        if not isinstance(inner, str | int | float):
            return None
        read[name] = inner
    return Message(code, **read)
