import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { createClipCache } from '../media/clip-cache.js';
import type { DrawRequest } from './drawn-video.js';

/**
 * The built file of the thread, because threads cannot run TypeScript. The path is right from `src` and from `dist`,
 * which are beside each other.
 */
const THREAD_FILE = new URL('../../../dist/sandbox/video/draw-video.thread.js', import.meta.url);
const DEADLINE_MS = 60_000;
const MAX_WAITING = 200;

/** Draws videos one after another in a thread of their own; equal requests share one file. */
export class VideoStudio {
  private readonly finished = createClipCache();
  private readonly underWay = new Map<string, Promise<Buffer>>();
  private last: Promise<unknown> = Promise.resolve();

  /** The file of a request. Throws when too many requests wait, or the thread fails or is too slow. */
  draw(request: DrawRequest): Promise<Buffer> {
    const key = JSON.stringify([request.prompt, request.width, request.height, request.seconds]);
    const known = this.finished.get(key);
    if (known !== undefined) return Promise.resolve(known);
    const video = this.underWay.get(key) ?? this.take(key, request);
    return video;
  }

  private take(key: string, request: DrawRequest): Promise<Buffer> {
    if (this.underWay.size >= MAX_WAITING) {
      return Promise.reject(new Error('too many videos wait to be drawn'));
    }
    const video = this.last.then(() => drawInThread(request));
    this.underWay.set(key, video);
    // A failed drawing does not stop the next. Its caller gets the error.
    this.last = video
      .then((file) => this.finished.set(key, file))
      .catch(() => undefined)
      .finally(() => this.underWay.delete(key));
    return video;
  }
}

async function drawInThread(request: DrawRequest): Promise<Buffer> {
  const thread = new Worker(THREAD_FILE, { workerData: request, execArgv: [] });
  // The wait for its message fails. Errors that arise while the thread ends are ignored.
  thread.on('error', () => undefined);
  try {
    const [video] = (await once(thread, 'message', {
      signal: AbortSignal.timeout(DEADLINE_MS),
    })) as [Uint8Array];
    return Buffer.from(video.buffer, video.byteOffset, video.byteLength);
  } finally {
    await thread.terminate();
  }
}
