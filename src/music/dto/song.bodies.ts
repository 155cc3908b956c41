import 'reflect-metadata';
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
import { IntersectionType } from '@nestjs/swagger';
import { getMetadataStorage } from 'class-validator';

/**
 * The base class of a body, with all fields of the groups. Throws when two groups have a field of the same name: both
 * rules would be checked, but only the last would be documented.
 */
export const bodyOf: typeof IntersectionType = (...groups) => {
  const seen = new Set<string>();
  for (const group of groups) {
    const rules = getMetadataStorage().getTargetValidationMetadatas(group, '', false, false);
    for (const name of new Set(rules.map(({ propertyName }) => propertyName))) {
      if (seen.has(name)) throw new Error(`two groups of a body hold a field ${name}`);
      seen.add(name);
    }
  }
  return IntersectionType(...groups);
};

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
