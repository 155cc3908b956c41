import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { LOST_SONG, MiniMaxDesk, SONG_CREDIT, SONG_PRICE } from '../../support/minimax-desk.js';
import type { StubUpstream } from '../../support/stub-upstream.js';
import { until } from '../../support/until.js';

const MIB = 1024 * 1024;

let desk: MiniMaxDesk;
beforeAll(async () => {
  desk = await MiniMaxDesk.open();
});
afterAll(() => desk.close());
beforeEach(() => desk.clear());

/** Bytes of buffers that are in use in this process, which is the gateway too. */
const liveBytes = (): number => {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().arrayBuffers;
};

describe('the file of a song', () => {
  it('may be there late, for one request and one charge', async () => {
    desk.files.reply = (response) =>
      desk.files.seen.length < 3 ? response.writeHead(404).end() : response.end(desk.mp3);
    const answer = await desk.compose();
    expect(answer.bytes.equals(desk.mp3)).toBe(true);
    expect([desk.minimax.seen.length, desk.files.seen.length]).toEqual([1, 3]);
    expect(await desk.lastRecord()).toMatchObject({ charged_microusd: SONG_PRICE });
  });

  it('is given on piece by piece', async () => {
    let rest = (): unknown => undefined;
    desk.files.reply = (response) => {
      desk.begin(response);
      rest = () => response.end(desk.mp3.subarray(1_000));
    };
    const answer = await desk.begun();
    const pieces: Uint8Array[] = [];
    for await (const piece of answer.body!) {
      if (pieces.length === 0) rest();
      pieces.push(piece);
    }
    expect(Buffer.concat(pieces).equals(desk.mp3)).toBe(true);
  });

  const endless = (response: ServerResponse): void => {
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(MIB)));
      if (!response.destroyed) response.once('drain', more);
    };
    response.write(desk.mp3);
    more();
  };
  it.each<[string, StubUpstream['reply']]>([
    [
      'breaks off',
      (response) => {
        desk.begin(response);
        setTimeout(() => response.destroy(), 50);
      },
    ],
    [
      'is shorter than it says',
      (response) => {
        desk.begin(response);
        setTimeout(() => response.socket?.end(), 50);
      },
    ],
    ['never ends', endless],
  ])('that %s is cut, free and on the record', async (_what, file) => {
    const before = await desk.balance();
    desk.files.reply = file;
    await expect(desk.compose()).rejects.toThrow();
    expect(await desk.lastRecord()).toMatchObject(LOST_SONG);
    expect(await desk.balance()).toEqual(before);
    expect([desk.minimax.seen.length, desk.files.seen.length]).toEqual([1, 1]);
  });

  it('waits in memory nowhere: forty at once are held by none (G-115)', async () => {
    const [songs, song] = [40, Buffer.concat([desk.mp3, Buffer.alloc(4 * MIB)])];
    const head = song.subarray(0, 4 * MIB);
    const ends: (() => unknown)[] = [];
    desk.files.reply = (response) => {
      response.writeHead(200, { 'content-length': song.length }).write(head);
      ends.push(() => response.end(song.subarray(head.length)));
    };
    const before = liveBytes();
    const received = Array.from({ length: songs }, () => 0);
    const answers = received.map(async (_none, index) => {
      const answer = await desk.begun();
      for await (const piece of answer.body!) received[index]! += (piece as Uint8Array).length;
    });
    await until(() => received.every((bytes) => bytes >= head.length));
    expect(liveBytes() - before).toBeLessThan(songs * MIB);
    for (const end of ends) end();
    await Promise.all(answers);
    expect(new Set(received)).toEqual(new Set([song.length]));
    const { available, held } = await desk.balance();
    expect([available, held]).toEqual([SONG_CREDIT - BigInt(songs) * BigInt(SONG_PRICE), 0n]);
  });
});
