import { secondsOf } from '../media/sound/piece.js';
import type { PieceFormat } from '../media/audio-files/piece-file.js';
import { instrumentsOf, rounded, sungWords, tempoOf } from './heard-in-song.js';
import { moreTags, writeLyrics, rangeOf } from './song-making.js';
import type { SongOperation } from './song-product.js';
import type { SunoOperation } from './suno-fields.js';
import { refuseSong, type WireFields } from './wire-fields.js';

const VIDEO = { width: 640, height: 640 };
/** The value that timed lyrics carry for a word that was found with certainty. */
const SURE = { success: true, p_align: 0.99 };
const TEXTS_PER_REQUEST = 2;
const WAVEFORM_POINTS = 100;

/** Operations whose answer is not a track. */
export const SUNO_EXPORTS = {
  lyrics: (fields) => {
    const prompt = fields.text('prompt');
    const lyrics = Array.from({ length: TEXTS_PER_REQUEST }, (_, index) =>
      writeLyrics(prompt, index + 1),
    );
    return { plain: { lyrics } };
  },
  'upsample-tags': (fields) => ({ plain: { upsampled_tags: moreTags(fields.text('tags')) } }),
  'custom-model': (fields, { newId }) => ({
    plain: { custom_model: { id: `chirp-custom:${newId}`, name: fields.text('name') } },
  }),
  'create-voice': async (fields, desk) => {
    const { piece } = await desk.imported(fields.text('audio_url'));
    const voice = {
      id: desk.newId,
      name: fields.text('name') || 'Voice',
      description: fields.text('description'),
      status: 'ready',
      duration_s: rounded(secondsOf(piece)),
      is_public: false,
    };
    return { plain: { voice } };
  },
  vox: (fields, desk) => {
    const { piece } = desk.clip(fields.text('music_id'));
    rangeOf(piece, fields, ['vocal_start_s', 'vocal_end_s']);
    return { plain: { vox_audio_id: desk.newId } };
  },
  persona: (fields, desk) => {
    desk.clip(fields.text('music_id'));
    const given = ['vox_audio_id', 'vocal_start_s', 'vocal_end_s'].filter((name) =>
      fields.has(name),
    );
    if (given.length % 3 !== 0) refuseSong('vox_audio_id: goes with vocal_start_s and vocal_end_s');
    if (fields.has('vox_audio_id')) {
      desk.demand('vox', fields.text('vox_audio_id'), 'vox_audio_id');
    }
    return { plain: { persona_id: desk.newId } };
  },
  'gen-midi': (fields, desk) => {
    const { piece } = desk.clip(fields.text('music_id'));
    return { plain: { state: 'complete', instruments: instrumentsOf(piece) } };
  },
  alignedLyrics: (fields, desk) => {
    const { piece } = desk.clip(fields.text('music_id'));
    const alignment = sungWords(piece).map(({ text, start, end }) => ({
      word: text,
      start_s: rounded(start),
      end_s: rounded(end),
      ...SURE,
    }));
    const waveform = Array.from({ length: WAVEFORM_POINTS }, (_, index) => (index % 10) / 10);
    return {
      plain: { status: 'complete', alignment, waveform_data: waveform, hoot_cer: 0.02 },
    };
  },
  bpm: (fields, desk) => {
    const { piece } = desk.clip(fields.text('music_id'));
    const bpm = tempoOf(piece) ?? refuseSong('music_id: no beat is heard in this track');
    return { plain: { bpm } };
  },
  mp4: (fields, desk) => ({
    video: { clip: desk.clip(fields.text('music_id')), ...VIDEO },
  }),
  download: (fields, desk) => {
    const clip = desk.clip(fields.text('music_id'));
    const formats = fields.texts('formats') as readonly PieceFormat[];
    return { files: formats.map((format) => ({ clip, format })) };
  },
} satisfies Partial<Record<SunoOperation, SongOperation<WireFields>>>;
