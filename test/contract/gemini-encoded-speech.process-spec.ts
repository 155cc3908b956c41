import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SystemClock } from '../../src/common/time/clock.js';
import { HttpTransport } from '../../src/providers/http/http-transport.js';
import { readBounded } from '../../src/providers/http/response-body.js';
import { geminiPorts } from '../../src/providers/gemini/gemini-ports.js';
import { measureBytes } from '../../src/media/duration/media-duration.js';
import { StubUpstream } from '../support/stub-upstream.js';

const SECONDS = 3;
const samples = Buffer.alloc(48_000 * SECONDS);
for (let at = 0; at < 24_000 * SECONDS; at += 1) {
  samples.writeInt16LE(Math.round(12_000 * Math.sin(at / 10)), 2 * at);
}

describe('speech of Gemini, which the vendor makes raw', () => {
  let stub: StubUpstream;
  const transport = new HttpTransport(10_000);
  beforeAll(async () => {
    stub = await StubUpstream.start();
  });
  afterAll(async () => {
    await transport.close();
    await stub.stop();
  });

  const speak = async (format: 'mp3' | 'opus', mimeType = 'audio/L16;codec=pcm;rate=24000') => {
    const inlineData = { mimeType, data: samples.toString('base64') };
    const candidate = { content: { parts: [{ inlineData }] }, finishReason: 'STOP' };
    stub.reply = (response) => response.end(JSON.stringify({ candidates: [candidate] }));
    const access = { id: 'acme', baseUrl: stub.url, transport, clock: new SystemClock() };
    const { body } = await geminiPorts(access).speech!.speak(
      { text: 'Hello.', voiceId: 'Kore', format },
      { upstreamModel: 'm', signal: new AbortController().signal },
    );
    return readBounded(body, 1_000_000);
  };

  it.each(['mp3', 'opus'] as const)('is encoded as %s, as long as it was', async (format) => {
    const { durationMicros } = measureBytes(await speak(format));
    expect(Math.abs(Number(durationMicros) / 1e6 - SECONDS)).toBeLessThan(0.1);
  });

  it('is 44.1 kHz and 128 kbit/s as MP3', async () => {
    const file = await speak('mp3');
    // MPEG 1 layer III; bit rate 9 is 128 kbit/s, sample rate 0 is 44.1 kHz.
    expect(file.readUInt16BE(0) & 0xfffe).toBe(0xfffa);
    expect([file[2]! >> 4, (file[2]! >> 2) & 3]).toEqual([9, 0]);
  });

  it.each(['audio/L16;codec=pcm;rate=16000', 'audio/ogg', ''])(
    'is a failure as %j, which callers are not promised',
    async (mimeType) => {
      await expect(speak('mp3', mimeType)).rejects.toMatchObject({ kind: 'http_error' });
    },
  );
});
