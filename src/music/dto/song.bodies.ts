import { bodyOf } from './body-of.js';
import {
  Creation,
  MusicPrompt,
  Singer,
  SongLyrics,
  SourceCreation,
  SpareLyrics,
  VocalLyrics,
  WrittenLyrics,
} from './creation-groups.body.js';
import {
  CustomModel,
  Fade,
  Formats,
  Inspiration,
  LyricsFields,
  NewStem,
  Persona,
  Remaster,
  Replacement,
  Sound,
  Speed,
  Stem,
  StyleTags,
  Voice,
} from './own-groups.body.js';
import {
  ContinueAt,
  CustomMaxMode,
  FreeStyle,
  MaxMode,
  OptionalTimeRange,
  PersonaChoice,
  PublicAudio,
  SongTask,
  SourcePair,
  SourceTrack,
  TimeRange,
  Titled,
  Version,
  VersionOrCustomModel,
} from './shared-groups.body.js';
import {
  CoverStrength,
  Instructed,
  Seeded,
  Tune,
  TuneExtension,
  TuneFormat,
  TunePrompt,
  VideoTemplate,
} from './tune-groups.body.js';

// Every body consists of its groups. The catalog decides which model takes which body.

const SINGER = [VersionOrCustomModel, PersonaChoice] as const;
const CUSTOM = [SongTask, Creation, CustomMaxMode, VersionOrCustomModel] as const;
const DESCRIBED = [...CUSTOM, SourceCreation] as const;
const SUNG = [...DESCRIBED, SongLyrics, Singer, PersonaChoice] as const;
const FOLLOW_UP = [SongTask, SourceTrack] as const;
const INSTRUCTED = [...FOLLOW_UP, Instructed, Titled, Seeded] as const;

export class SongMusicBody extends bodyOf(
  ...CUSTOM,
  MusicPrompt,
  Singer,
  WrittenLyrics,
  PersonaChoice,
) {}
export class SongLyricsBody extends bodyOf(SongTask, LyricsFields) {}
export class SongInspoBody extends bodyOf(SongTask, Inspiration, FreeStyle, MaxMode, ...SINGER) {}
export class SongSoundsBody extends bodyOf(SongTask, Sound) {}
export class SongStyleBoostBody extends bodyOf(SongTask, StyleTags) {}
export class SongUploadBody extends bodyOf(SongTask, PublicAudio, Titled) {}
export class SongUploadCoverBody extends bodyOf(...SUNG, PublicAudio) {}
export class SongUploadExtendBody extends bodyOf(...SUNG, PublicAudio, ContinueAt, WrittenLyrics) {}
export class SongCustomModelBody extends bodyOf(SongTask, CustomModel) {}
export class SongExtendBody extends bodyOf(...SUNG, SourceTrack, ContinueAt, WrittenLyrics) {}
export class SongCoverBody extends bodyOf(...SUNG, SourceTrack) {}
export class SongRemasterBody extends bodyOf(...FOLLOW_UP, Version, Remaster) {}
export class SongReplaceSectionBody extends bodyOf(
  ...FOLLOW_UP,
  Replacement,
  FreeStyle,
  VersionOrCustomModel,
  MaxMode,
) {}
export class SongTimeRangeBody extends bodyOf(...FOLLOW_UP, TimeRange) {}
export class SongFadeBody extends bodyOf(...FOLLOW_UP, Fade, Titled) {}
export class SongSpeedBody extends bodyOf(...FOLLOW_UP, Speed, Titled) {}
export class SongMashupBody extends bodyOf(...SUNG, SourcePair, WrittenLyrics) {}
export class SongSampleBody extends bodyOf(...SUNG, SourceTrack, TimeRange, WrittenLyrics) {}
export class SongStemsBody extends bodyOf(...FOLLOW_UP, Stem) {}
export class SourceTrackBody extends bodyOf(...FOLLOW_UP) {}
export class SongAddVocalsBody extends bodyOf(
  ...DESCRIBED,
  SourceTrack,
  VocalLyrics,
  PersonaChoice,
) {}
export class SongAddInstrumentalBody extends bodyOf(
  ...DESCRIBED,
  SourceTrack,
  SpareLyrics,
  Singer,
) {}
export class SongAddStemBody extends bodyOf(
  ...FOLLOW_UP,
  NewStem,
  FreeStyle,
  OptionalTimeRange,
  VersionOrCustomModel,
  MaxMode,
) {}
export class SongVoiceBody extends bodyOf(SongTask, PublicAudio, Voice) {}
export class SongPersonaBody extends bodyOf(...FOLLOW_UP, Persona) {}
export class SongDownloadBody extends bodyOf(...FOLLOW_UP, Formats) {}
export class TuneMusicBody extends bodyOf(SongTask, Tune, Titled, Seeded) {}
export class TuneLyricsBody extends bodyOf(SongTask, TunePrompt) {}
export class TuneExtendBody extends bodyOf(...INSTRUCTED, TuneExtension) {}
export class TuneReplaceBody extends bodyOf(...INSTRUCTED, TimeRange) {}
export class TuneCoverBody extends bodyOf(...INSTRUCTED, CoverStrength) {}
export class TuneDownloadBody extends bodyOf(...FOLLOW_UP, TuneFormat) {}
export class TuneVideoBody extends bodyOf(...FOLLOW_UP, VideoTemplate) {}
