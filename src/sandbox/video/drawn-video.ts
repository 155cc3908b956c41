import {
  BufferTarget,
  EncodedPacket,
  EncodedVideoPacketSource,
  Mp4OutputFormat,
  Output,
} from 'mediabunny';
import { promptPicture } from '../media/pictures/prompt-picture.js';
import { H264Encoder } from './h264-encoder.js';
import { MACROBLOCK, type Planes, planesOf } from './video-planes.js';

/** Frames per second. */
export const FRAMES_PER_SECOND = 24;
const BAR_HEIGHT = 8;
/** White, in the limited range. */
const BAR_COLOUR = [235, 128, 128] as const;

/** What a video is drawn from; equal requests give equal files. */
export interface DrawRequest {
  /** The text that it shows. */
  readonly prompt: string;
  readonly width: number;
  readonly height: number;
  /** Whole seconds. */
  readonly seconds: number;
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
  const barRow = Math.floor((height - 1) / MACROBLOCK);
  for (let frame = 0; frame < frames; frame += 1) {
    if (frame > 0) paintBar(planes, Math.round((width * (frame + 1)) / frames));
    const data = frame === 0 ? encoder.keyFrame() : encoder.nextFrame(barRow, barRow);
    const packet = new EncodedPacket(
      data,
      frame === 0 ? 'key' : 'delta',
      frame / FRAMES_PER_SECOND,
      1 / FRAMES_PER_SECOND,
    );
    await source.add(packet, { decoderConfig });
  }
  await output.finalize();
  if (target.buffer === null) throw new Error('the video was not written');
  return Buffer.from(target.buffer);
}

/** A bar of this many pixels in the last row of macroblocks. */
function paintBar({ planes, rows }: Planes, pixels: number): void {
  planes.forEach(({ samples, width, block }, number) => {
    const scale = block / MACROBLOCK;
    const top = (rows - 1) * block;
    for (let y = top; y < top + BAR_HEIGHT * scale; y += 1) {
      const start = y * width;
      samples.fill(BAR_COLOUR[number] ?? 0, start, start + Math.ceil(pixels * scale));
    }
  });
}
