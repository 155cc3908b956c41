import type { JsonRecord } from '../http/json.js';
import { secondsOf } from '../media/sound/piece.js';
import { rounded, sungLines } from './heard-in-song.js';
import type { PublishedClip, SongFacts, SandboxFamily } from './song-jobs.js';

type UrlOf = (file: string) => string;

/** `suno`: tracks are in `musics`, names are in camel case, lengths are text. */
export const SUNO_FAMILY: SandboxFamily = {
  kind: 'suno',
  trackField: 'music_id',
  tellsSize: false,
  shown: (facts, urlOf) => {
    const { clips, operation, isInstant } = facts;
    // An upload whose result was waited for is answered with the id alone.
    const isBare = operation === 'upload' && isInstant;
    return {
      ...(clips.length > 0 && !isBare && { musics: clips.map((clip) => musicOf(clip, urlOf)) }),
      ...(operation === 'upload' && { music_id: clips[0]?.id }),
      ...filesOf(facts, urlOf),
    };
  },
};

/** `flowmusic`: tracks are in `clips`, names are in snake case. */
export const FLOW_FAMILY: SandboxFamily = {
  kind: 'flowmusic',
  trackField: 'clip_id',
  tellsSize: true,
  shown: (facts, urlOf) => ({
    ...(facts.clips.length > 0 && { clips: facts.clips.map((clip) => clipOf(clip, urlOf)) }),
    ...(facts.archive !== undefined && { file_url: urlOf(facts.archive) }),
    ...filesOf(facts, urlOf),
  }),
};

function filesOf({ files, videos, plain }: SongFacts, urlOf: UrlOf): JsonRecord {
  return {
    ...(files.length > 0 && {
      files: files.map(({ format, file }) => ({ format, url: urlOf(file) })),
    }),
    ...(videos.length > 0 && { videos: videos.map(urlOf) }),
    ...plain,
  };
}

function musicOf(clip: PublishedClip, urlOf: UrlOf): JsonRecord {
  return {
    musicId: clip.id,
    prompt: clip.lyrics,
    title: clip.title,
    tags: clip.tags,
    imageUrl: urlOf(clip.image),
    imageLargeUrl: urlOf(clip.image),
    audioUrl: urlOf(clip.audio),
    // As the provider does it: every track has a `videoUrl`, and it answers 404 unless a video was rendered.
    videoUrl: urlOf(`${clip.id.replace('-', '')}.mp4`),
    duration: secondsOf(clip.piece).toFixed(2),
    negativeTags: '',
    styleWeight: null,
    weirdnessConstraint: null,
    audioWeight: null,
    createdAt: null,
  };
}

function clipOf(clip: PublishedClip, urlOf: UrlOf): JsonRecord {
  return {
    clip_id: clip.id,
    title: clip.title,
    tags: clip.tags,
    lyrics_id: `${clip.id}-lyrics`,
    lyrics_timing_markers: sungLines(clip.piece).map(({ text, start, end }) => ({
      text,
      start_s: rounded(start),
      end_s: rounded(end),
    })),
    audio_url: urlOf(clip.audio),
    image_url: urlOf(clip.image),
    duration: rounded(secondsOf(clip.piece)),
  };
}
