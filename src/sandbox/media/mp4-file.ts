import {
  ALL_FORMATS,
  BufferSource,
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  Input,
  type InputAudioTrack,
  type InputVideoTrack,
  Mp4OutputFormat,
  Output,
} from 'mediabunny';

/**
 * An MP4 with the encoded sound of an audio file and, if `video` is given, its encoded pictures. Undefined when one of
 * them cannot be read.
 */
export async function mp4File(audio: Buffer, video?: Buffer): Promise<Buffer | undefined> {
  const inputs = [audio, video ?? audio].map(
    (bytes) => new Input({ source: new BufferSource(bytes), formats: ALL_FORMATS }),
  );
  try {
    const target = new BufferTarget();
    const output = new Output({ format: new Mp4OutputFormat(), target });
    const copyPicture = video
      ? await pictureCopy(await inputs[1]?.getPrimaryVideoTrack(), output)
      : nothing;
    const copySound = await soundCopy(await inputs[0]?.getPrimaryAudioTrack(), output);
    if (!copySound || !copyPicture) return undefined;
    await output.start();
    await copyPicture();
    await copySound();
    await output.finalize();
    return Buffer.from(target.buffer ?? new ArrayBuffer(0));
  } finally {
    for (const input of inputs) input.dispose();
  }
}

const nothing = (): Promise<void> => Promise.resolve();

async function soundCopy(track: InputAudioTrack | null | undefined, output: Output) {
  const codec = await track?.getCodec();
  const decoderConfig = await track?.getDecoderConfig();
  if (!track || !codec || !decoderConfig) return undefined;
  const source = new EncodedAudioPacketSource(codec);
  output.addAudioTrack(source);
  return async () => {
    for await (const packet of new EncodedPacketSink(track).packets()) {
      await source.add(packet, { decoderConfig });
    }
  };
}

async function pictureCopy(track: InputVideoTrack | null | undefined, output: Output) {
  const codec = await track?.getCodec();
  const decoderConfig = await track?.getDecoderConfig();
  if (!track || !codec || !decoderConfig) return undefined;
  const source = new EncodedVideoPacketSource(codec);
  output.addVideoTrack(source, { rotation: await track.getRotation() });
  return async () => {
    for await (const packet of new EncodedPacketSink(track).packets()) {
      await source.add(packet, { decoderConfig });
    }
  };
}
