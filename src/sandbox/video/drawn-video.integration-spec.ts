import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chromiumPath, startBrowser } from '../../../test/support/browser.js';
import { systemProgram } from '../../../test/support/system-program.js';
import { drawVideo, FRAMES_PER_SECOND, type DrawRequest, VideoStudio } from './drawn-video.js';

const run = promisify(execFile);
const ffprobe = systemProgram('ffprobe');
const ffmpeg = systemProgram('ffmpeg');
const PROMPT = 'Waves roll slowly towards the shore';
const request = (width: number, height: number, seconds = 5): DrawRequest => ({
  prompt: PROMPT,
  width,
  height,
  seconds,
});
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shim-video-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function draw(made: DrawRequest): Promise<string> {
  const path = join(folder, `${made.width}x${made.height}-${made.seconds}.mp4`);
  await writeFile(path, await drawVideo(made));
  return path;
}

(ffprobe && ffmpeg ? describe : describe.skip)('a drawn video, as ffprobe sees it', () => {
  it.each([
    [640, 360, 15],
    [360, 640, 10],
    [640, 640, 5],
    [1920, 1080, 10],
    [641, 361, 5],
    [1000, 1, 5],
    [17, 333, 5],
    [16, 16, 5],
  ])('%i x %i for %i s has that size, that length and decodes', async (width, height, seconds) => {
    const path = await draw(request(width, height, seconds));
    const entries = 'stream=codec_name,width,height,nb_read_frames,duration';
    const { stdout } = await run(ffprobe!, [
      ...['-v', 'error', '-count_frames', '-show_entries', entries, '-of', 'json', path],
    ]);
    const { streams } = JSON.parse(stdout) as { streams: Record<string, unknown>[] };
    expect(streams).toEqual([
      {
        codec_name: 'h264',
        width,
        height,
        duration: `${seconds}.000000`,
        nb_read_frames: String(seconds * FRAMES_PER_SECOND),
      },
    ]);
    const decoded = await run(ffmpeg!, ['-v', 'error', '-i', path, '-f', 'null', '-']);
    expect(decoded.stderr).toBe('');
  });

  it('shows the prompt over a gradient from the first frame to the last, under a growing bar', async () => {
    const path = await draw(request(320, 192));
    const pixels = async (frame: number) => {
      const select = ['-vf', `select=eq(n\\,${frame})`, '-frames:v', '1'];
      const { stdout } = await run(
        ffmpeg!,
        ['-v', 'error', '-i', path, ...select, '-f', 'rawvideo', '-pix_fmt', 'gray', '-'],
        { encoding: 'buffer' },
      );
      return stdout;
    };
    const whiteIn = (picture: Buffer, from: number, to: number) =>
      picture.subarray(from * 320, to * 320).filter((sample) => sample > 230).length;
    const [first, middle, last] = await Promise.all([pixels(0), pixels(59), pixels(119)]);
    expect(whiteIn(first, 0, 176)).toBeGreaterThan(200);
    expect(last.subarray(0, 176 * 320).equals(first.subarray(0, 176 * 320))).toBe(true);
    expect([first, middle, last].map((picture) => whiteIn(picture, 176, 184))).toEqual([
      0,
      160 * 8,
      320 * 8,
    ]);
  });
});

describe('a drawn video', () => {
  it('stays small: ten seconds of 1920 x 1080 take less than four megabytes', async () => {
    expect((await drawVideo(request(1920, 1080, 10))).length).toBeLessThan(4_000_000);
  });

  it('is the same file for the same request', async () => {
    const [one, two] = await Promise.all([drawVideo(request(64, 64)), drawVideo(request(64, 64))]);
    expect(one.equals(two)).toBe(true);
  });
});

describe('a studio', () => {
  it('draws equal requests once, and goes on after one that failed', async () => {
    const studio = new VideoStudio();
    const [one, failed, same] = [request(64, 64), request(-1, 64), request(64, 64)].map((made) =>
      studio.draw(made),
    );
    await expect(failed).rejects.toThrow();
    expect(await same).toBe(await one);
    expect(await studio.draw(request(64, 64))).toBe(await one);
    expect((await studio.draw(request(32, 64))).equals((await one)!)).toBe(false);
  });
});

(chromiumPath === undefined ? describe.skip : describe)('a drawn video in Chromium', () => {
  it.each([
    [640, 360],
    [641, 361],
  ])('%i x %i plays to its end', async (width, height) => {
    const file = await drawVideo(request(width, height));
    const server = createServer((request, response) => {
      const isVideo = request.url === '/video.mp4';
      response.writeHead(200, { 'content-type': isVideo ? 'video/mp4' : 'text/html' });
      response.end(isVideo ? file : '<video muted src="/video.mp4"></video>');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const browser = await startBrowser();
    try {
      const page = await browser.context.newPage();
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      const played = await page.locator('video').evaluate(async (element) => {
        const video = element as unknown as {
          playbackRate: number;
          videoWidth: number;
          videoHeight: number;
          duration: number;
          currentTime: number;
          play(): Promise<void>;
          addEventListener(name: string, listener: () => void): void;
        };
        const ended = new Promise<void>((resolve, reject) => {
          video.addEventListener('ended', resolve);
          video.addEventListener('error', () => {
            reject(new Error('the video broke'));
          });
        });
        video.playbackRate = 4;
        await video.play();
        await ended;
        return [video.videoWidth, video.videoHeight, video.duration, video.currentTime];
      });
      expect(played).toEqual([width, height, 5, 5]);
    } finally {
      await browser.close();
      server.closeAllConnections();
      server.close();
    }
  });
});
