import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import type { Response } from 'express';
import { AudioWriter } from './audio-writer.js';

const PRICE = 120n;

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

  it('sends every byte and the charge, and ends when it is told to', async () => {
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
