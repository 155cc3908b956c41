import { execFileSync, spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ALL_FORMATS, BufferSource, Input } from 'mediabunny';
import { SANDBOX_API_KEY } from '../http/protocol.js';
import { SandboxServer } from '../sandbox-server.js';

const server = new SandboxServer();
let base = '';
beforeAll(async () => {
  base = `http://127.0.0.1:${await server.listen()}/elevenlabs/v1`;
});
afterAll(() => server.close());

const ADAM = 'pNInz6obpgDQGcFmaJgB';
const SARAH = 'EXAVITQu4vr4xnSDxMaL';
const TEXT = 'Grüße aus dem Sandkasten, wo jedes Wort gehört wird.';

async function postJson(path: string, body: object): Promise<Response> {
  return fetch(`${base}/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'xi-api-key': SANDBOX_API_KEY },
    body: JSON.stringify(body),
  });
}

async function postForm(path: string, parts: Record<string, string | Buffer>): Promise<Response> {
  const form = new FormData();
  for (const [name, part] of Object.entries(parts)) {
    if (typeof part === 'string') form.append(name, part);
    else form.append(name, new Blob([new Uint8Array(part)]), 'audio.bin');
  }
  const headers = { 'xi-api-key': SANDBOX_API_KEY };
  return fetch(`${base}/${path}`, { method: 'POST', headers, body: form });
}

async function bytes(answer: Response): Promise<Buffer> {
  expect(answer.status).toBe(200);
  return Buffer.from(await answer.arrayBuffer());
}

async function speech(format: string, text = TEXT): Promise<Buffer> {
  return bytes(await postJson(`text-to-speech/${ADAM}?output_format=${format}`, { text }));
}

function secondsOf(file: Buffer): Promise<number> {
  return new Input({ source: new BufferSource(file), formats: ALL_FORMATS }).computeDuration();
}

function wavAround(samples: Buffer, sampleRate: number): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0).toString();
  head.writeUInt32LE(36 + samples.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(sampleRate, 24);
  head.writeUInt32LE(sampleRate * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}

function tone(seconds: number): Buffer {
  const samples = Int16Array.from({ length: seconds * 8000 }, (_, i) => 9000 * Math.sin(i / 5));
  return wavAround(Buffer.from(samples.buffer), 8000);
}

interface Transcription {
  readonly text: string;
  readonly audio_duration_secs: number;
  readonly words: { text: string; type: string; end: number; speaker_id?: string }[];
  readonly additional_formats: { content: string }[];
}

describe('POST /v1/speech-to-text', () => {
  const transcribe = async (file: Buffer, fields: Record<string, string> = {}) => {
    const answer = await postForm('speech-to-text', { model_id: 'scribe_v2', ...fields, file });
    expect(answer.status).toBe(200);
    return (await answer.json()) as Transcription;
  };

  it.each(['mp3_44100_128', 'opus_48000_128', 'wav_44100'])(
    'gives back the words of its own speech in %s',
    async (format) => {
      const file = await speech(format);
      const transcript = await transcribe(file);
      expect(transcript).toMatchObject({ text: TEXT, language_code: 'eng' });
      expect(transcript.audio_duration_secs).toBeCloseTo(await secondsOf(file), 2);
      expect(transcript.words[0]).toMatchObject({ text: 'Grüße', type: 'word', start: 0 });
      expect(transcript.words[1]).toMatchObject({ text: ' ', type: 'spacing' });
      expect(transcript.words.at(-1)!.end).toBeCloseTo(transcript.audio_duration_secs, 1);
      expect(transcript.words[0]).not.toHaveProperty('speaker_id');
    },
  );

  it('knows its own raw PCM inside a WAV file of the caller', async () => {
    const file = wavAround(await speech('pcm_24000'), 24_000);
    expect((await transcribe(file)).text).toBe(TEXT);
  });

  it('hears a plausible number of words in an unknown recording and none in silence', async () => {
    const heard = await transcribe(tone(8));
    const words = heard.words.filter((word) => word.type === 'word');
    expect(words).toHaveLength(20);
    expect((await transcribe(wavAround(Buffer.alloc(32_000), 8000))).text).toBe('');
  });

  it('tells the speakers of a dialogue apart and writes subtitles', async () => {
    const dialogue = await postJson('text-to-dialogue', {
      model_id: 'eleven_v3',
      inputs: [
        { text: 'Good morning!', voice_id: ADAM },
        { text: '[laughs] Good evening.', voice_id: SARAH },
      ],
    });
    const transcript = await transcribe(await bytes(dialogue), {
      diarize: 'true',
      additional_formats: '[{"format":"srt","include_speakers":true,"include_timestamps":true}]',
    });
    const said = transcript.words.filter((word) => word.type !== 'spacing');
    expect(said.map((word) => word.speaker_id)).toEqual([
      'speaker_0',
      'speaker_0',
      'speaker_1',
      'speaker_1',
      'speaker_1',
    ]);
    expect(said[2]).toMatchObject({ text: '[laughs]', type: 'audio_event' });
    expect(transcript.additional_formats[0]).toMatchObject({ requested_format: 'srt' });
    expect(transcript.additional_formats[0]!.content).toMatch(
      /^1\n00:00:00,000 --> 00:00:0\d,\d{3}\n\[speaker_0\] Good morning!\n\n2\n/,
    );
  });

  it('refuses garbage, a missing file and a strange language', async () => {
    const garbage = { model_id: 'scribe_v2', file: Buffer.from('not audio at all') };
    expect((await postForm('speech-to-text', garbage)).status).toBe(400);
    expect((await postForm('speech-to-text', { model_id: 'scribe_v2' })).status).toBe(422);
    const strange = { model_id: 'scribe_v2', language_code: 'xx', file: tone(1) };
    expect((await postForm('speech-to-text', strange)).status).toBe(400);
  });

  it('obeys a magic input in the tag of an uploaded file', async () => {
    const file = Buffer.concat([tone(1), Buffer.from('LIST0000 [[sandbox:status=503]]')]);
    expect((await postForm('speech-to-text', { model_id: 'scribe_v2', file })).status).toBe(503);
  });
});

describe('operations on a recording', () => {
  it('aligns a text over the length of the recording', async () => {
    const answer = await postForm('forced-alignment', { file: tone(6), text: 'one two three' });
    const alignment = (await answer.json()) as {
      words: { text: string; start: number; end: number; loss: number }[];
      characters: object[];
    };
    expect(alignment.words.map(({ text }) => text)).toEqual(['one', 'two', 'three']);
    expect(alignment.words.at(-1)!.end).toBeCloseTo(6, 2);
    expect(alignment.characters).toHaveLength(13);
  });

  it('changes the voice and keeps length and words', async () => {
    const audio = await speech('wav_44100');
    const answer = await postForm(`speech-to-speech/${SARAH}?output_format=opus_48000_128`, {
      audio,
      model_id: 'eleven_multilingual_sts_v2',
      voice_settings: '{"stability":0.4}',
      seed: '7',
    });
    const changed = await bytes(answer);
    expect(await secondsOf(changed)).toBeCloseTo(await secondsOf(audio), 2);
    expect(changed.includes(TEXT)).toBe(true);
  });

  it('isolates the voice as MP3 of the same length', async () => {
    const answer = await postForm('audio-isolation', { audio: tone(5) });
    expect(answer.headers.get('content-type')).toBe('audio/mpeg');
    expect(await secondsOf(await bytes(answer))).toBeCloseTo(5, 0);
  });
});

describe('sounds and music', () => {
  it.each(['mp3_44100_128', 'opus_48000_128'])('have the asked length in %s', async (format) => {
    const query = `output_format=${format}`;
    const [effect, piece] = await Promise.all([
      postJson(`sound-generation?${query}`, { text: 'rain on a roof', duration_seconds: 2.5 }),
      postJson(`music?${query}`, {
        prompt: 'calm piano',
        music_length_ms: 4000,
        model_id: 'music_v2_5',
      }),
    ]);
    expect(piece.headers.get('song-id')).toMatch(/^[0-9a-f]{32}$/);
    expect(Math.abs((await secondsOf(await bytes(effect))) - 2.5)).toBeLessThan(0.1);
    expect(Math.abs((await secondsOf(await bytes(piece))) - 4)).toBeLessThan(0.1);
  });

  it('know no WAV', async () => {
    const query = 'output_format=wav_44100';
    expect((await postJson(`sound-generation?${query}`, { text: 'rain' })).status).toBe(422);
    expect((await postJson(`music?${query}`, { prompt: 'calm' })).status).toBe(422);
  });

  it('need a prompt and lengths within bounds', async () => {
    expect((await postJson('music', {})).status).toBe(400);
    expect((await postJson('music', { prompt: 'a', music_length_ms: 100 })).status).toBe(422);
    expect((await postJson('sound-generation', { text: 'a', duration_seconds: 31 })).status).toBe(
      422,
    );
  });
});

describe('every codec', () => {
  const hasFfmpeg = spawnSync('ffprobe', ['-version']).status === 0;
  if (!hasFfmpeg) process.emitWarning('ffprobe is not installed: codecs are checked by magic only');

  it.each(['mp3_44100_128', 'opus_48000_128', 'wav_44100'])(
    '%s decodes without error',
    async (format) => {
      if (!hasFfmpeg) return;
      const input = await speech(format, 'A sentence that any player can decode.');
      const decoded = execFileSync(
        'ffmpeg',
        [
          '-v',
          'error',
          '-xerror',
          '-i',
          'pipe:0',
          '-f',
          's16le',
          '-ac',
          '1',
          '-ar',
          '8000',
          'pipe:1',
        ],
        { input, maxBuffer: 1 << 24 },
      );
      expect(Math.abs(decoded.length / 16_000 - (await secondsOf(input)))).toBeLessThan(0.1);
      const samples = new Int16Array(new Uint8Array(decoded).buffer);
      expect(samples.reduce((max, sample) => Math.max(max, Math.abs(sample)), 0)).toBeGreaterThan(
        3000,
      );
    },
  );
});
