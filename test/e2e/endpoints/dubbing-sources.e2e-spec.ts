import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { aiffFile } from '../../media/aiff-file.js';
import { edited, sample } from '../../media/byte-edits.js';
import { wavFile } from '../../media/wav-file.js';
import { DubbingHarness, silentWav } from '../../support/dubbing-harness.js';
import { send } from '../../support/http-answer.js';

/** Nothing is sent to the provider here. */
const NO_WORKER = { TASK_TICK_MS: '86400000' };
const LIMIT_BYTES = 52_428_800;
const PAGE = '<!doctype html><html><body>Not here</body></html>'.repeat(100);
const NO_MEDIA = { status: 400, code: 'unsupported_audio_format', param: 'source_url' };
const WAV_HEAD_BYTES = 44;
/** A silent host is given up after ten seconds. */
const PATIENCE_MS = 120_000;

let harness: DubbingHarness;

beforeAll(async () => {
  harness = await DubbingHarness.open(NO_WORKER);
});
afterAll(() => harness.close());
beforeEach(() => harness.clear());

async function reserved(file: Buffer): Promise<string> {
  harness.serve(file);
  const task = await harness.submit();
  expect(await harness.gateway.balance(harness.account.accountId)).toMatchObject({
    held: BigInt(task.reserved_microusd),
  });
  return task.reserved_microusd;
}

/** Its movie header says one second. */
function withShortMovieHeader(mp4: Buffer): Buffer {
  return edited(mp4, (copy) => {
    const at = copy.indexOf('mvhd', 0, 'latin1');
    copy.writeUInt32BE(copy.readUInt32BE(at + 16), at + 20);
  });
}

/** As long as fits into 50 MB. */
const LARGEST = wavFile(LIMIT_BYTES - WAV_HEAD_BYTES, 32_000, 8);

describe('the source of a dub', () => {
  it.each([
    [61.2, '775000', 'DUB-02'],
    [1800, '22500000', 'DUB-03'],
    [12.1, '150000', 'DUB-04'],
    [12.11, '162500', 'DUB-05'],
    [0.05, '12500', 'DUB-06'],
    [1, '12500', 'DUB-07'],
    [1800.05, '22500000', 'DUB-09'],
  ])('of %d s holds %s micro-USD (%s)', async (seconds, price) => {
    expect(await reserved(silentWav(seconds))).toBe(price);
  });

  it.each([1801, 1800.2])('of %d s is too long (DUB-08, ERR-32, LIMIT-09)', async (seconds) => {
    harness.serve(silentWav(seconds));
    await harness.refuses(() => harness.post(), {
      status: 400,
      code: 'media_too_long',
      param: 'source_url',
    });
  });

  it.each([
    ['MOV', 'DUB-18', () => sample('tone.mov')],
    ['WebM', 'DUB-19', () => sample('tone.webm')],
    ['MP3', 'DUB-20', () => sample('tone.mp3')],
    ['WAV', 'DUB-21', () => silentWav(12.34)],
    ['M4A', 'DUB-22', () => sample('tone.m4a')],
    ['AAC', 'DUB-23', () => sample('tone.aac')],
    ['FLAC', 'DUB-24', () => sample('tone.flac')],
    ['Ogg', 'DUB-25', () => sample('tone.ogg')],
  ])('may be %s: 12.34 s of it hold the price of 13 (%s)', async (_format, _row, file) => {
    expect(await reserved(file())).toBe('162500');
  });

  it('may be MP4, of which the longer track counts: its 15 s of pictures (DUB-17)', async () => {
    expect(await reserved(sample('tone.mp4'))).toBe('187500');
  });

  it('may not be AIFF (DUB-26, G-45)', async () => {
    harness.serve(aiffFile(98_720));
    await harness.refuses(() => harness.post(), NO_MEDIA);
  });

  it('is billed by what it holds, whatever its header declares (DUB-27)', async () => {
    expect(await reserved(withShortMovieHeader(sample('tone.mp4')))).toBe('187500');
  });

  it.each([
    ['text', Buffer.from('this is no media')],
    ['a page', Buffer.from('<!doctype html><html><body>Not here</body></html>')],
    ['random bytes', Buffer.from('c0ffee'.repeat(200), 'hex')],
    ['a playlist', Buffer.from('#EXTM3U\n#EXTINF:10,\nhttp://127.0.0.1/x.ts\n')],
    ['a header without samples', silentWav(0)],
  ])('that is %s has no length that can be read (DUB-15)', async (_what, file) => {
    harness.serve(file);
    await harness.refuses(() => harness.post(), NO_MEDIA);
  });

  it('that is replaced by a page between two reads has no measurable duration (DUB-15)', async () => {
    const film = sample('tone.mp4');
    harness.host.reply = (response) => {
      response.write(film.subarray(0, film.length / 2));
      setTimeout(() => response.end(PAGE), 20);
    };
    await harness.refuses(() => harness.post(), NO_MEDIA);
  });

  it('is downloaded once, so what its host serves later changes nothing', async () => {
    const files = [silentWav(3), Buffer.from(PAGE)];
    harness.host.reply = (response) => response.end(files.shift());
    const { reserved_microusd } = await harness.submit();
    expect([reserved_microusd, harness.host.seen.length]).toEqual(['37500', 1]);
    await harness.refuses(() => harness.post(), NO_MEDIA);
  });

  it('may have 50 MB and not a byte more (DUB-10)', async () => {
    expect(LARGEST).toHaveLength(LIMIT_BYTES);
    expect(await reserved(LARGEST)).toBe('20487500');
    harness.serve(Buffer.concat([LARGEST, Buffer.alloc(1)]));
    await harness.refuses(() => harness.post(), {
      status: 413,
      code: 'audio_too_large',
      param: 'source_url',
    });
  });

  it('is removed when the task is cancelled', async () => {
    const { id } = await harness.submit();
    const { headers } = harness.account;
    const url = `${harness.gateway.url}/v1/tasks/${id}/cancel`;
    expect(await send(url, { method: 'POST', headers })).toMatchObject({ status: 200 });
    const sql = `SELECT id FROM stored_file WHERE account_id = $1`;
    const kept = () => harness.gateway.dataSource.query<object[]>(sql, [harness.account.accountId]);
    while ((await kept()).length > 0) await sleep(20);
  });

  it.each([404, 403, 500])('that answers %i could not be downloaded (DUB-14)', async (status) => {
    harness.host.reply = (response) => response.writeHead(status).end();
    await harness.refuses(() => harness.post(), {
      status: 400,
      code: 'audio_download_failed',
      param: 'source_url',
    });
  });

  it('that is empty, breaks off, redirects to a private address or has no host could not be downloaded (DUB-14)', async () => {
    const failed = { status: 400, code: 'audio_download_failed', param: 'source_url' };
    harness.host.reply = (response) => response.end();
    await harness.refuses(() => harness.post(), failed);
    harness.host.reply = (response) => {
      response.writeHead(200, { 'content-length': '5000' }).write('RIFF');
      setTimeout(() => response.destroy(), 20);
    };
    await harness.refuses(() => harness.post(), failed);
    harness.host.reply = (response) =>
      response.writeHead(302, { location: 'http://10.0.0.1/secret.wav' }).end();
    await harness.refuses(() => harness.post(), failed);
    const url = 'https://no-such-host.invalid/a.mp3';
    await harness.refuses(() => harness.post({ source_url: url }), failed);
  });

  it.each<[string, (response: ServerResponse) => unknown]>([
    ['never answers', () => undefined],
    [
      'falls silent in the middle',
      (response) => response.writeHead(200, { 'content-length': '5000' }).write('RIFF'),
    ],
  ])(
    'that %s could not be downloaded (DUB-14)',
    async (_how, reply) => {
      harness.host.reply = reply;
      await harness.refuses(() => harness.post(), {
        status: 400,
        code: 'audio_download_failed',
        param: 'source_url',
      });
    },
    PATIENCE_MS,
  );

  it.each([
    ['not at all', undefined],
    ['as null', null],
    ['empty', ''],
    ['as a number', 5],
    ['as a list', ['https://example.com/a.mp3']],
    ['as no URL', 'recording.mp3'],
    ['as an ftp URL', 'ftp://example.com/a.mp3'],
    ['as a data URL', 'data:audio/wav;base64,UklGRg=='],
    ['as a file URL', 'file:///etc/passwd'],
    ['with a password', 'https://user:word@example.com/a.mp3'],
    ['on loopback', 'http://127.0.0.2/a.mp3'],
    ['on localhost', 'http://localhost/a.mp3'],
    ['on a private network', 'https://10.1.2.3/a.mp3'],
    ['at a metadata service', 'http://169.254.169.254/latest'],
    ['on private IPv6', 'http://[fd00::1]/a.mp3'],
    ['on a database port', 'https://example.com:5432/a.mp3'],
  ])('named %s is refused from the text (DUB-13)', async (_how, url) => {
    await harness.refuses(() => harness.post({ source_url: url }), {
      status: 400,
      code: 'invalid_request',
      param: 'source_url',
    });
    expect(harness.host.seen).toHaveLength(0);
  });
});
