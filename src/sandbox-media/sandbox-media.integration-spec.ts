import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BoundedDownload } from '../platform/http-client/bounded-download.js';
import { EgressRules } from '../platform/http-client/egress-rules.js';
import { SsrfSafeDialer } from '../platform/http-client/ssrf-safe-dialer.js';
import { SandboxMedia } from './sandbox-media.js';

const NAME = 'abc123.wav';
const rules = EgressRules.none;

describe('SandboxMedia', () => {
  let server: Server;
  let port: number;
  let location: string;
  let asked: string[];
  let media: SandboxMedia;

  beforeAll(async () => {
    server = createServer(({ url = '' }, response) => {
      asked.push(url);
      if (url === '/media/moved.wav') response.writeHead(302, { location }).end();
      else response.end('sound');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  beforeEach(() => {
    asked = [];
    media = new SandboxMedia(`http://127.0.0.1:${port}/media`);
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  const fetched = async (url: string) => {
    const downloads = new BoundedDownload(new SsrfSafeDialer({ rules }), { rules }, media);
    return (await downloads.toBytes(url, { limitBytes: 100 })).data.toString();
  };

  it.each([
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000/sandbox/media'],
    ['https://shim.example:443/', 'https://shim.example/sandbox/media'],
    ['https://shim.example/a/b/', 'https://shim.example/a/b/sandbox/media'],
    ['https://me:pass@shim.example/?a=1#b', 'https://shim.example/sandbox/media'],
  ])('is published at %s below %s', (gatewayUrl, base) => {
    expect(media.publishAt(gatewayUrl)).toBe(base);
    expect(media.fileAt(new URL(`${base}/${NAME}`))?.pathname).toBe(`/media/${NAME}`);
  });

  it('reads a published file from the sandbox, wherever it is published', async () => {
    media.publishAt('https://shim.invalid');
    expect(await fetched(`https://shim.invalid/sandbox/media/${NAME}?a=1`)).toBe('sound');
    expect(asked).toEqual([`/media/${NAME}`]);
  });

  it.each(['/other', '/media/moved.wav', '//127.0.0.1/', 'http://169.254.169.254/', 'file:///etc'])(
    'lets no redirect lead from there to %s',
    async (target) => {
      media.publishAt(`http://127.0.0.1:${port}`);
      location = target;
      const moved = fetched(`http://127.0.0.1:${port}/sandbox/media/moved.wav`);
      await expect(moved).rejects.toMatchObject({ code: 'audio_download_failed' });
      expect(asked).toEqual(['/media/moved.wav']);
    },
  );

  it.each(['', 'a', '../a.wav', 'a/b.wav', 'a b.wav', 'ä.wav', 'a.wav\n', `${'a'.repeat(65)}.wav`])(
    'has no file named %j',
    (name) => {
      expect(media.fileNamed(name)).toBeUndefined();
    },
  );

  it.each([
    ['another name of this machine', `http://localhost:3000/sandbox/media/${NAME}`],
    ['another port', `http://127.0.0.1:1/sandbox/media/${NAME}`],
    ['no name of a file', 'http://127.0.0.1:3000/sandbox/media/nothing'],
    ['nothing', 'http://127.0.0.1:3000/sandbox/media/'],
  ])('says where its files are when a URL has %s', async (_what, url) => {
    media.publishAt('http://127.0.0.1:3000');
    await expect(fetched(url)).rejects.toMatchObject({
      code: 'invalid_request',
      message:
        'The URL must name a file of the sandbox below http://127.0.0.1:3000/sandbox/media/, such as recording.mp3.',
    });
    expect(asked).toEqual([]);
  });

  it('says so of no other path, and without a sandbox of none', async () => {
    const refusal = { message: 'The URL must point at a public host.' };
    media.publishAt('http://127.0.0.1:3000');
    await expect(fetched('http://127.0.0.1:3000/v1/models')).rejects.toMatchObject(refusal);
    media = new SandboxMedia(undefined);
    media.publishAt('http://127.0.0.1:3000');
    const url = 'http://127.0.0.1:3000/sandbox/media/nothing';
    await expect(fetched(url)).rejects.toMatchObject(refusal);
  });

  it('has no files before it is published, or without a sandbox', async () => {
    const url = `http://127.0.0.1:${port}/sandbox/media/${NAME}`;
    await expect(fetched(url)).rejects.toMatchObject({ code: 'invalid_request' });
    media = new SandboxMedia(undefined);
    media.publishAt(`http://127.0.0.1:${port}`);
    await expect(fetched(url)).rejects.toMatchObject({ code: 'invalid_request' });
    expect(media.fileNamed(NAME)).toBeUndefined();
    expect(asked).toEqual([]);
  });
});
