import {
  ALL_FORMATS,
  BufferSource,
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacket,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  Input,
  Mp4OutputFormat,
  Output,
} from 'mediabunny';
import { StillFrames } from './h264-still.js';
import type { Pixels } from './png-image.js';

const FRAMES_PER_SECOND = 4;

/** An MP4 that shows a picture, and a bar that grows, as long as an audio file lasts. The sides are multiples of 16. */
export async function stillVideo(picture: Pixels, audio: Buffer): Promise<Buffer> {
  const input = new Input({ source: new BufferSource(audio), formats: ALL_FORMATS });
  try {
    const track = await input.getPrimaryAudioTrack();
    const codec = await track?.getCodec();
    if (!track || !codec) throw new Error('The sound of the video cannot be read');
    const decoderConfig = await track.getDecoderConfig();
    const target = new BufferTarget();
    const output = new Output({ format: new Mp4OutputFormat(), target });
    const pictures = new EncodedVideoPacketSource('avc');
    const sounds = new EncodedAudioPacketSource(codec);
    output.addVideoTrack(pictures, { frameRate: FRAMES_PER_SECOND });
    output.addAudioTrack(sounds);
    await output.start();
    await addFrames(pictures, picture, await track.computeDuration());
    for await (const packet of new EncodedPacketSink(track).packets()) {
      await sounds.add(packet, decoderConfig ? { decoderConfig } : undefined);
    }
    await output.finalize();
    return Buffer.from(target.buffer ?? new ArrayBuffer(0));
  } finally {
    input.dispose();
  }
}

async function addFrames(
  pictures: EncodedVideoPacketSource,
  picture: Pixels,
  seconds: number,
): Promise<void> {
  const frames = new StillFrames(picture);
  const decoderConfig = {
    codec: frames.codec,
    codedWidth: picture.width,
    codedHeight: picture.height,
    description: frames.description,
  };
  const count = Math.max(1, Math.round(seconds * FRAMES_PER_SECOND));
  const length = 1 / FRAMES_PER_SECOND;
  for (let index = 0; index < count; index++) {
    const data = index === 0 ? frames.keyFrame() : frames.nextFrame(index, index / count);
    const type = index === 0 ? 'key' : 'delta';
    await pictures.add(new EncodedPacket(data, type, index * length, length), { decoderConfig });
  }
  pictures.close();
}
