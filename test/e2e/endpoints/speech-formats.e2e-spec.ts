import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { paidSpeech } from '../../support/paid-speech.js';
import { type GatewayFromOutside, sharedGateway } from '../../support/shared-gateway.js';

let gateway: GatewayFromOutside;

beforeAll(async () => {
  gateway = await sharedGateway();
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

/** The first MPEG audio frame header, after the ID3 tag if there is one. */
function mp3Frame(bytes: Buffer): { kbps: number; sampleRate: number } {
  let at = 0;
  if (bytes.toString('latin1', 0, 3) === 'ID3') {
    at = 10 + [6, 7, 8, 9].reduce((size, index) => size * 128 + bytes.readUInt8(index), 0);
  }
  expect(bytes.readUInt16BE(at) & 0xfffe).toBe(0xfffa);
  const kbps = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128][bytes.readUInt8(at + 2) >> 4] ?? 0;
  const sampleRate = [44_100, 48_000, 32_000][(bytes.readUInt8(at + 2) >> 2) & 3] ?? 0;
  return { kbps, sampleRate };
}

describe('the response_format of speech', () => {
  it.each<[string, string, string | undefined]>([
    ['left out', 'SPEECH-42', undefined],
    ['mp3', 'AUD-49', 'mp3'],
  ])('%s answers MP3 at 44.1 kHz and 128 kbps (%s)', async (_name, _row, response_format) => {
    const { answer, upstream } = await paidSpeech(gateway, { response_format });
    expect(answer.headers.get('content-type')).toBe('audio/mpeg');
    expect(mp3Frame(answer.bytes)).toEqual({ kbps: 128, sampleRate: 44_100 });
    expect(upstream.query).toEqual({ output_format: 'mp3_44100_128' });
  });

  it('opus answers Opus at 48 kHz in Ogg (AUD-50)', async () => {
    const { answer, upstream } = await paidSpeech(gateway, { response_format: 'opus' });
    expect(answer.headers.get('content-type')).toBe('audio/ogg');
    expect(answer.bytes.toString('latin1', 0, 4)).toBe('OggS');
    const head = answer.bytes.indexOf('OpusHead');
    expect(answer.bytes.readUInt32LE(head + 12)).toBe(48_000);
    expect(upstream.query).toEqual({ output_format: 'opus_48000_128' });
  });

  it('pcm answers raw 16-bit samples at 24 kHz without a header (AUD-51, G-49)', async () => {
    const { answer, upstream } = await paidSpeech(gateway, { response_format: 'pcm' });
    expect(answer.headers.get('content-type')).toBe('audio/pcm');
    expect(answer.bytes.length % 2).toBe(0);
    expect(answer.bytes.includes('RIFF')).toBe(false);
    expect(upstream.query).toEqual({ output_format: 'pcm_24000' });
  });

  it('wav answers 16-bit RIFF/WAVE at 44.1 kHz (AUD-52, G-49)', async () => {
    const { answer, upstream } = await paidSpeech(gateway, { response_format: 'wav' });
    expect(answer.headers.get('content-type')).toBe('audio/wav');
    expect(answer.bytes.toString('latin1', 0, 16)).toMatch(/^RIFF....WAVEfmt $/s);
    expect(answer.bytes.readUInt16LE(20)).toBe(1);
    expect(answer.bytes.readUInt32LE(24)).toBe(44_100);
    expect(answer.bytes.readUInt16LE(34)).toBe(16);
    expect(upstream.query).toEqual({ output_format: 'wav_44100' });
  });

  it('decides type and encoding, and nothing else of the answer (SPEECH-41, SPEECH-44)', async () => {
    const types: Record<string, string | null> = {};
    const ids = new Set<string | null>();
    for (const response_format of ['mp3', 'opus', 'pcm', 'wav']) {
      const { answer, charged } = await paidSpeech(gateway, { response_format });
      expect(charged).toBe(600n);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      types[response_format] = answer.headers.get('content-type');
      ids.add(answer.headers.get('x-gateway-execution-id'));
    }
    expect(types).toEqual({
      mp3: 'audio/mpeg',
      opus: 'audio/ogg',
      pcm: 'audio/pcm',
      wav: 'audio/wav',
    });
    expect(ids.size).toBe(4);
  });
});
