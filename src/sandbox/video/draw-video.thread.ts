import { parentPort, workerData } from 'node:worker_threads';
import { drawVideo, type DrawRequest } from './drawn-video.js';

/** Thread entry: draws one video and hands over its bytes. */
const video = new Uint8Array(await drawVideo(workerData as DrawRequest));
parentPort?.postMessage(video, [video.buffer]);
