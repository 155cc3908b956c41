import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SystemClock } from '../../src/common/time/clock.js';
import { readBounded } from '../../src/providers/http/response-body.js';
import type { ProviderAudio } from '../../src/providers/ports/audio.port.js';
import { ProviderRegistry } from '../../src/providers/routing/provider-registry.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.js';
import { until } from '../support/until.js';

const MAX_BYTES = 20_000_000;

/** The adapters of Gemini, and those of speech and transcription at OpenAI, agree with the sandbox. */
describe('the adapters of media against the sandbox', () => {
  let sandbox: Sandbox;
  let registry: ProviderRegistry;
  beforeAll(async () => {
    sandbox = await startSandbox();
    const { apiKey, url } = sandbox;
    const providers = [
      { id: 'gemini', protocol: 'gemini', baseUrl: `${url}/gemini/v1beta`, apiKey },
      { id: 'openai', protocol: 'openai', baseUrl: `${url}/openai/v1`, apiKey },
    ] as const;
    registry = new ProviderRegistry({ providers, upstreamTimeoutMs: 10_000 }, new SystemClock());
  });
  afterAll(async () => {
    await registry.onModuleDestroy();
    await sandbox.close();
  });

  const context = () => ({ upstreamModel: 'm', signal: new AbortController().signal });
  const gemini = { provider: 'gemini', upstreamModel: 'm' };
  const openai = { provider: 'openai', upstreamModel: 'm' };
  const bytesOf = async (call: Promise<ProviderAudio>): Promise<Buffer> =>
    readBounded((await call).body, MAX_BYTES);
  const draw = (prompt: string, size?: string) =>
    registry.portOf(gemini, 'image')!.generateImage({ prompt, size }, context());

  it('draw pictures of a shape', async () => {
    const [image] = (await draw('A lighthouse', '1536x1024')).images;
    const png = Buffer.from((image as { base64: string }).base64, 'base64');
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([1248, 832]);
  });

  it('make videos of a shape and a length, which are fetched with the key', async () => {
    const port = registry.portOf(gemini, 'video')!;
    const asked = { prompt: 'A boat [[sandbox:task-ms=1]]', seconds: '2', aspectRatio: '9:16' };
    const id = await port.submitVideo({ ...asked, resolution: '480p' }, context());
    await until(async () => (await port.readVideo(id, context())).state === 'succeeded');
    const content = await port.openVideo(id, context());
    if (!('body' in content)) throw new Error('a redirect');
    const bytes = await readBounded(content.body, MAX_BYTES);
    expect(bytes.toString('latin1', 4, 8)).toBe('ftyp');
    const track = bytes.indexOf('tkhd');
    // The sides of the picture, as numbers of 16.16 bits at the end of the track's head.
    const sides = [bytes.readUInt16BE(track + 80), bytes.readUInt16BE(track + 84)];
    expect(sides).toEqual([480, 854]);
    const movie = bytes.indexOf('mvhd');
    expect(bytes.readUInt32BE(movie + 20) / bytes.readUInt32BE(movie + 16)).toBe(2);
  });

  it.each([
    ['task-fails', { state: 'failed', failure: { code: '13' } }],
    ['no-result', { state: 'unreadable' }],
    ['task-ms=60000', { state: 'pending' }],
  ])('report [[sandbox:%s]] of a video as %j', async (word, report) => {
    const port = registry.portOf(gemini, 'video')!;
    const prompt = `A boat [[sandbox:${word}]] ${word.startsWith('task-ms') ? '' : '[[sandbox:task-ms=1]]'}`;
    const id = await port.submitVideo({ prompt, seconds: '2' }, context());
    await until(async () => (await port.readVideo(id, context())).state === report.state);
    expect(await port.readVideo(id, context())).toMatchObject(report);
  });

  it('draw as many pictures as are wanted, each with an answer of its own', async () => {
    const port = registry.portOf(gemini, 'image')!;
    const { images } = await port.generateImage({ prompt: 'A boat', count: 3 }, context());
    expect(images.length).toBe(3);
  });

  it.each([
    ['no-data', 'rejected', 'NO_IMAGE'],
    ['refuse', 'rejected', 'IMAGE_SAFETY'],
    ['status=429', 'rate_limited', 'RESOURCE_EXHAUSTED'],
  ])('take [[sandbox:%s]] for %s', async (word, kind, upstreamCode) => {
    await expect(draw(`[[sandbox:${word}]]`)).rejects.toMatchObject({ kind, upstreamCode });
  });

  it('speak with one voice and with two', async () => {
    const speech = registry.portOf(gemini, 'speech')!;
    const said = { text: 'Hello there.', voiceId: 'Kore', format: 'pcm' } as const;
    expect((await bytesOf(speech.speak(said, context()))).length).toBeGreaterThan(10_000);
    const lines = ['Kore', 'Puck', 'Kore'].map((voiceId) => ({ text: 'Hello there.', voiceId }));
    const dialogue = registry.portOf(gemini, 'dialogue')!;
    const both = dialogue.speakDialogue({ lines, format: 'wav' }, context());
    expect((await bytesOf(both)).toString('latin1', 0, 4)).toBe('RIFF');
    const strange = speech.speak({ ...said, voiceId: 'Nobody' }, context());
    await expect(strange).rejects.toMatchObject({ kind: 'rejected' });
  });

  it('refuse a third voice before anything is sent', async () => {
    const lines = ['Kore', 'Puck', 'Leda'].map((voiceId) => ({ text: 'Hello.', voiceId }));
    const call = registry
      .portOf(gemini, 'dialogue')!
      .speakDialogue({ lines, format: 'pcm' }, context());
    await expect(call).rejects.toMatchObject({ kind: 'rejected', sent: false });
  });

  it('speak and hear over the protocol of OpenAI', async () => {
    const speech = registry.portOf(openai, 'speech')!;
    const said = { text: 'Hello there. Who is it?', voiceId: 'coral', speed: 1 };
    for (const format of ['opus', 'wav', 'pcm'] as const) {
      expect((await bytesOf(speech.speak({ ...said, format }, context()))).length).toBeGreaterThan(
        9,
      );
    }
    const file = await bytesOf(speech.speak({ ...said, format: 'mp3' }, context()));
    const path = join(mkdtempSync(join(tmpdir(), 'heard-')), 'speech.mp3');
    writeFileSync(path, file);
    const media = { path, sizeBytes: file.length, filename: 'a.mp3', contentType: 'audio/mpeg' };
    const port = registry.portOf(openai, 'transcription')!;
    const plain = await port.transcribe({ media }, context());
    expect(plain).toMatchObject({ text: said.text, words: [], srt: null });
    const timed = await port.transcribe({ media, timestamps: 'word' }, context());
    expect(timed.words.filter(({ type }) => type === 'word').map(({ text }) => text)).toEqual(
      said.text.split(' '),
    );
    const told = await port.transcribe({ media, diarize: true, subtitles: true }, context());
    expect(told.srt).toMatch(/^1\n00:00:00,\d{3} --> 00:00:\d\d,\d{3}\n\[A\] Hello there\.\n/);
    expect(told.words[0]).toMatchObject({ text: 'Hello', speaker: 'A' });
    const wrong = speech.speak(
      { ...said, text: '[[sandbox:wrong-format]]', format: 'mp3' },
      context(),
    );
    await expect(wrong).rejects.toMatchObject({ kind: 'http_error' });
  });
});
