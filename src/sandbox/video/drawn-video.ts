import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import {
  BufferTarget,
  EncodedPacket,
  EncodedVideoPacketSource,
  Mp4OutputFormat,
  Output,
} from 'mediabunny';
import { type Pixels, promptPicture } from '../media/prompt-picture.js';
import { H264Encoder, MACROBLOCK, type Plane, type Planes } from './h264-encoder.js';

/** Frames per second. */
export const FRAMES_PER_SECOND = 24;
const BAR_HEIGHT = 8;
const MAX_KEPT_BYTES = 32 * 1024 * 1024;
/** White, in the limited range. */
const BAR_COLOUR = [235, 128, 128] as const;

type Mix = readonly [offset: number, red: number, green: number, blue: number];
/** ITU-R BT.601, limited range. */
const Y: Mix = [16, 0.257, 0.504, 0.098];
const CB: Mix = [128, -0.148, -0.291, 0.439];
const CR: Mix = [128, 0.439, -0.368, -0.071];

/** What a video is drawn from; equal requests give equal files. */
export interface DrawRequest {
  /** The text that it shows. */
  readonly prompt: string;
  readonly width: number;
  readonly height: number;
  /** Whole seconds. */
  readonly seconds: number;
}

/** Draws videos one after another; equal requests share one file, which is kept for a while. */
export class VideoStudio {
  private last: Promise<unknown> = Promise.resolve();
  private readonly files = new LRUCache<string, Buffer, DrawRequest>({
    maxSize: MAX_KEPT_BYTES,
    sizeCalculation: (file) => file.length,
    fetchMethod: (_key, _stale, { context }) => {
      const file = this.last.then(() => drawVideo(context));
      // A failed drawing does not stop the next. Its caller gets the error.
      this.last = file.catch(() => undefined);
      return file;
    },
    ignoreFetchAbort: true,
  });

  /** The file of a request. */
  draw(request: DrawRequest): Promise<Buffer> {
    const { prompt, width, height, seconds } = request;
    const key = JSON.stringify([prompt, width, height, seconds]);
    return this.files.forceFetch(key, { context: request });
  }
}

/** An MP4 file that shows the prompt on a gradient, with a bar that grows with time. */
export async function drawVideo({ prompt, width, height, seconds }: DrawRequest): Promise<Buffer> {
  const target = new BufferTarget();
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: 'in-memory' }), target });
  const source = new EncodedVideoPacketSource('avc');
  output.addVideoTrack(source, { frameRate: FRAMES_PER_SECOND });
  await output.start();
  const planes = planesOf(promptPicture(prompt, width, height));
  const decoderConfig = {
    codec: planes.isHalfColour ? 'avc1.42c028' : 'avc1.f40028',
    codedWidth: width,
    codedHeight: height,
  };
  const frames = seconds * FRAMES_PER_SECOND;
  const encoder = new H264Encoder(planes);
  const barAt = (frame: number) => (frame === 0 ? 0 : Math.round((width * (frame + 1)) / frames));
  for (let frame = 0; frame < frames; frame += 1) {
    const data =
      frame === 0 ? encoder.keyFrame() : grow(planes, encoder, barAt(frame - 1), barAt(frame));
    const type = frame === 0 ? 'key' : 'delta';
    const duration = 1 / FRAMES_PER_SECOND;
    await source.add(new EncodedPacket(data, type, frame * duration, duration), { decoderConfig });
    // Others are answered meanwhile.
    if (frame % FRAMES_PER_SECOND === 0) await setImmediate();
  }
  await output.finalize();
  if (target.buffer === null) throw new Error('the video was not written');
  return Buffer.from(target.buffer);
}

/** The frame in which the bar in the last row of macroblocks grows to `end` pixels. */
function grow({ planes, rows, columns }: Planes, encoder: H264Encoder, start: number, end: number) {
  planes.forEach(({ samples, width, block }, number) => {
    const scale = block / MACROBLOCK;
    const top = (rows - 1) * block;
    for (let y = top; y < top + BAR_HEIGHT * scale; y += 1) {
      const first = y * width;
      samples.fill(BAR_COLOUR[number] ?? 0, first, first + Math.ceil(end * scale));
    }
  });
  const row = (rows - 1) * columns;
  return encoder.nextFrame(row + Math.floor(start / MACROBLOCK), row + Math.ceil(end / MACROBLOCK));
}

/** The planes of a picture. Its last row and column are repeated to the end of the macroblock. */
function planesOf(picture: Pixels): Planes {
  const { width, height } = picture;
  const columns = Math.ceil(width / MACROBLOCK);
  const rows = Math.ceil(height / MACROBLOCK);
  const isHalfColour = width % 2 === 0 && height % 2 === 0;
  const plane = (mix: Mix, step: number): Plane => {
    const block = MACROBLOCK / step;
    const samples = new Uint8Array(columns * block * rows * block);
    return fill({ width: columns * block, samples, block }, picture, mix, step);
  };
  const step = isHalfColour ? 2 : 1;
  const planes = [plane(Y, 1), plane(CB, step), plane(CR, step)] as const;
  return { width, height, columns, rows, planes, isHalfColour };
}

function fill(plane: Plane, { width, height, data }: Pixels, mix: Mix, step: number): Plane {
  const { samples, width: stride } = plane;
  const [offset, red, green, blue] = mix;
  for (let at = 0; at < samples.length; at += 1) {
    const x = Math.min((at % stride) * step, width - 1);
    const y = Math.min(Math.floor(at / stride) * step, height - 1);
    const from = (y * width + x) * 3;
    const [r = 0, g = 0, b = 0] = [data[from], data[from + 1], data[from + 2]];
    samples[at] = Math.round(offset + red * r + green * g + blue * b);
  }
  return plane;
}
