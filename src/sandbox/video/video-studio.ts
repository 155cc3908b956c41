import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { createClipCache } from '../media/clip-cache.js';
import type { VideoOrder } from './drawn-video.js';

/** `src` and `dist` are siblings: this names the built thread from either, as threads cannot run TypeScript. */
const THREAD_FILE = new URL('../../../dist/sandbox/video/draw-video.thread.js', import.meta.url);
const DEADLINE_MS = 60_000;
const MAX_WAITING = 200;

/** Draws videos one after another in a thread of their own; equal orders share one file. */
export class VideoStudio {
  private readonly finished = createClipCache();
  private readonly ordered = new Map<string, Promise<Buffer>>();
  private last: Promise<unknown> = Promise.resolve();

  /** The file of an order. Throws when too many orders wait, or the thread fails or is too slow. */
  draw(order: VideoOrder): Promise<Buffer> {
    const key = JSON.stringify([order.prompt, order.width, order.height, order.seconds]);
    const known = this.finished.get(key);
    if (known !== undefined) return Promise.resolve(known);
    const video = this.ordered.get(key) ?? this.take(key, order);
    return video;
  }

  private take(key: string, order: VideoOrder): Promise<Buffer> {
    if (this.ordered.size >= MAX_WAITING) {
      return Promise.reject(new Error('too many videos wait to be drawn'));
    }
    const video = this.last.then(() => drawInThread(order));
    this.ordered.set(key, video);
    // A failed drawing does not stop the next; whoever asked for it hears of it.
    this.last = video
      .then((file) => this.finished.set(key, file))
      .catch(() => undefined)
      .finally(() => this.ordered.delete(key));
    return video;
  }
}

async function drawInThread(order: VideoOrder): Promise<Buffer> {
  const thread = new Worker(THREAD_FILE, { workerData: order, execArgv: [] });
  try {
    const [video] = (await once(thread, 'message', {
      signal: AbortSignal.timeout(DEADLINE_MS),
    })) as [Uint8Array];
    return Buffer.from(video.buffer, video.byteOffset, video.byteLength);
  } finally {
    // What breaks while the thread is ended is of no interest any more.
    thread.on('error', () => undefined);
    await thread.terminate();
  }
}
