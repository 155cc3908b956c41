import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { Response } from 'express';
import { AudioWriter } from './audio-response.js';

const PRICE = 120n;
/** More bytes than any kernel takes for a reader. */
const PIECES = 3_000;

/** Audio of which two pieces arrive in one turn of the event loop. */
class Recording {
  made = 0;
  readonly source: Readable;

  constructor(size: number) {
    this.source = Readable.from(this.pieces(Buffer.alloc(size)), { highWaterMark: 1 });
  }

  private async *pieces(piece: Buffer): AsyncGenerator<Buffer> {
    while (this.made < PIECES) {
      this.made += 1;
      yield piece;
      if (this.made % 2 === 0) await setImmediate();
    }
  }
}

describe('AudioWriter', () => {
  let server: Server;
  let answered: Promise<Response>;
  let fetched: Promise<globalThis.Response>;

  beforeEach(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    answered = once(server, 'request').then(([, response]) => response as Response);
    fetched = fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    fetched.catch(() => undefined);
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it('sends every byte and the charge, and ends only when its end function is called', async () => {
    const response = await answered;
    const end = await new AudioWriter(response).stream(
      Readable.from([Buffer.from('ab'), Buffer.from('c')]),
      'mp3',
      PRICE,
    );
    expect(response.writableEnded).toBe(false);
    end();
    const answer = await fetched;
    expect(answer.headers.get('x-gateway-charge-microusd')).toBe('120');
    expect(await answer.text()).toBe('abc');
  });

  it.each([20_000, 40_000, 65_536])(
    'sends all of a long recording that arrives in pieces of %d bytes, two at a time',
    async (size) => {
      const recording = new Recording(size);
      const sent = new AudioWriter(await answered).stream(recording.source, 'mp3', PRICE);
      const answer = await fetched;
      const body = answer.arrayBuffer();
      (await sent)();
      expect((await body).byteLength).toBe(PIECES * size);
    },
  );

  it.each([20_000, 40_000, 65_536])(
    'waits for a reader that reads nothing, with pieces of %d bytes',
    async (size) => {
      const response = await answered;
      const recording = new Recording(size);
      const sent = new AudioWriter(response).stream(recording.source, 'mp3', PRICE);
      await fetched;
      let before = -1;
      while (recording.made !== before) {
        before = recording.made;
        await sleep(200);
      }
      expect(recording.made).toBeLessThan(PIECES);
      expect(response.writableLength).toBeLessThan(500_000);
      response.destroy();
      await sent;
    },
  );

  it('rejects with what broke the source in the middle', async () => {
    const source = new PassThrough();
    const sent = new AudioWriter(await answered).stream(source, 'mp3', PRICE);
    source.write('ab');
    source.destroy(new Error('cut'));
    await expect(sent).rejects.toThrow('cut');
  });

  it.each([
    ['with an error', new Error('cut before')],
    ['without one', undefined],
  ])('rejects at once a source that broke before, %s', async (_how, error) => {
    const source = new PassThrough().on('error', () => undefined);
    source.destroy(error);
    await new Promise((resolve) => source.once('close', resolve));
    const sent = new AudioWriter(await answered).stream(source, 'mp3', PRICE);
    await expect(sent).rejects.toThrow(error?.message ?? 'the audio broke off');
  });

  it('reads the source to its end when the client has left', async () => {
    const response = await answered;
    response.destroy();
    const source = Readable.from([Buffer.alloc(100_000), Buffer.alloc(100_000)]);
    await new AudioWriter(response).stream(source, 'mp3', PRICE);
    expect(source.readableEnded).toBe(true);
  });
});
