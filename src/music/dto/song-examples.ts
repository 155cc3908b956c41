import { EXAMPLE_TRACKS, exampleMediaUrl } from '../../common/example-media.js';
import { EXAMPLE_AUDIO_URL as AUDIO, EXAMPLE_TASK_ID as SOURCE } from './song-fields.js';

const LYRICS = '[Verse]\nThe rain is writing on the glass\n[Chorus]\nStay a little longer';
const REFERENCES = EXAMPLE_TRACKS.map(exampleMediaUrl);

interface SongExample {
  readonly summary: string;
  readonly [field: string]: unknown;
}

/** One body per model, without `model`. Where a source is needed, `source_task_id` has to be replaced. */
export const SONG_EXAMPLES: Readonly<Record<string, SongExample>> = {
  'song-music': {
    summary: 'A song from a description',
    prompt: 'A slow bossa nova about rain on a window',
  },
  'song-lyrics': { summary: 'Lyrics', prompt: 'A farewell at a railway station' },
  'song-inspo': {
    summary: 'A new song inspired by public clips',
    audio_urls: [AUDIO],
    tags: 'dream pop',
  },
  'song-sounds': { summary: 'A sound effect', prompt: 'A heavy door slams shut', type: 'one-shot' },
  'song-style-boost': { summary: 'Expanded style tags', tags: 'dream pop' },
  'song-upload': { summary: 'A public recording as a track', audio_url: AUDIO, title: 'My demo' },
  'song-upload-cover': {
    summary: 'A cover of a public recording',
    audio_url: AUDIO,
    gen_description: 'As a string quartet',
  },
  'song-upload-extend': {
    summary: 'A public recording, continued',
    audio_url: AUDIO,
    continue_at: 2,
    gen_description: 'A quiet ending',
  },
  'song-custom-model': {
    summary: 'A model of your own',
    name: 'Basement tapes',
    audio_urls: REFERENCES,
  },
  'song-extend': {
    summary: 'A track, continued',
    source_task_id: SOURCE,
    continue_at: 10,
    gen_description: 'A quiet ending',
  },
  'song-cover': {
    summary: 'A cover with lyrics and style of your own',
    source_task_id: SOURCE,
    custom: true,
    prompt: LYRICS,
    tags: 'string quartet',
    title: 'Rain',
  },
  'song-remaster': { summary: 'A remaster', source_task_id: SOURCE, variation_category: 'subtle' },
  'song-replace-section': {
    summary: 'A part of a track, made anew',
    source_task_id: SOURCE,
    start_s: 2,
    end_s: 10,
    infill_lyrics: 'The rain has gone',
  },
  'song-remove-section': {
    summary: 'A track without a part of it',
    source_task_id: SOURCE,
    start_s: 2,
    end_s: 5,
  },
  'song-crop': { summary: 'A part of a track', source_task_id: SOURCE, start_s: 2, end_s: 10 },
  'song-fade-in': { summary: 'A track that fades in', source_task_id: SOURCE, fade_time_s: 2 },
  'song-fade-out': { summary: 'A track that fades out', source_task_id: SOURCE, fade_time_s: 2 },
  'song-speed': {
    summary: 'A faster track in the same pitch',
    source_task_id: SOURCE,
    speed_multiplier: 1.25,
  },
  'song-concat': { summary: 'An extension, joined with its source', source_task_id: SOURCE },
  'song-mashup': {
    summary: 'Two tracks in one',
    source_task_ids: [SOURCE, SOURCE],
    source_indexes: [1, 2],
    gen_description: 'Both at once, with brass',
  },
  'song-sample': {
    summary: 'A song around a part of a track',
    source_task_id: SOURCE,
    start_s: 2,
    end_s: 6,
    gen_description: 'Trip hop around the sample',
  },
  'song-stems': { summary: 'One stem of a track', source_task_id: SOURCE, stem_type: 'bass' },
  'song-stems-all': { summary: 'All stems of a track', source_task_id: SOURCE },
  'song-add-vocals': {
    summary: 'Vocals over an instrumental',
    source_task_id: SOURCE,
    gen_description: 'A warm alto',
  },
  'song-add-instrumental': {
    summary: 'An accompaniment for a vocal track',
    source_task_id: SOURCE,
    gen_description: 'A jazz trio',
  },
  'song-add-stem': {
    summary: 'A track with one stem more',
    source_task_id: SOURCE,
    stem_type: 'cello',
    tags: 'slow, legato',
  },
  'song-voice': { summary: 'A voice from a public recording', audio_url: AUDIO, name: 'Narrator' },
  'song-persona': {
    summary: 'The singer of a track',
    source_task_id: SOURCE,
    name: 'The night singer',
  },
  'song-midi': { summary: 'The notes of a track', source_task_id: SOURCE },
  'song-timed-lyrics': { summary: 'The words of a track and their times', source_task_id: SOURCE },
  'song-bpm': { summary: 'The tempo of a track', source_task_id: SOURCE },
  'song-mp4': { summary: 'A music video', source_task_id: SOURCE },
  'song-download': { summary: 'A track as files', source_task_id: SOURCE, formats: ['mp3', 'wav'] },
  'tune-music': {
    summary: 'A tune from a style and lyrics',
    prompt: 'Acoustic folk with a fiddle',
    lyrics: LYRICS,
    duration: 30,
  },
  'tune-music-lyrics': { summary: 'Lyrics for a tune', prompt: 'A farewell at a railway station' },
  'tune-music-extend': {
    summary: 'A tune, continued',
    source_task_id: SOURCE,
    continue_at: 10,
    instruction: 'Let the strings take over',
    duration: 20,
  },
  'tune-music-replace': {
    summary: 'A part of a tune, made anew',
    source_task_id: SOURCE,
    start_s: 2,
    end_s: 8,
    instruction: 'A short silence, then bells',
  },
  'tune-music-cover': {
    summary: 'A tune in another style',
    source_task_id: SOURCE,
    instruction: 'As a waltz',
  },
  'tune-music-stems': { summary: 'Vocals and accompaniment as a ZIP', source_task_id: SOURCE },
  'tune-music-upload': {
    summary: 'A public recording as a clip',
    audio_url: AUDIO,
    title: 'My demo',
  },
  'tune-music-download': { summary: 'A tune as a file', source_task_id: SOURCE, format: 'wav' },
  'tune-music-video': { summary: 'A video of a tune', source_task_id: SOURCE, template: 'modern' },
};
