import {
  ALL_FORMATS,
  BufferSource,
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  Input,
  Mp4OutputFormat,
  Output,
} from 'mediabunny';

/**
 * An MP4 with the pictures of a video and the sound of an audio file. Undefined when the pictures of the video cannot
 * be read.
 */
export async function dubbedVideo(video: Buffer, audio: Buffer): Promise<Buffer | undefined> {
  const pictureInput = new Input({ source: new BufferSource(video), formats: ALL_FORMATS });
  const soundInput = new Input({ source: new BufferSource(audio), formats: ALL_FORMATS });
  try {
    const picture = await pictureInput.getPrimaryVideoTrack();
    const sound = await soundInput.getPrimaryAudioTrack();
    const pictureCodec = await picture?.getCodec();
    const soundCodec = await sound?.getCodec();
    if (!picture || !sound || !pictureCodec || !soundCodec) return undefined;
    const target = new BufferTarget();
    const output = new Output({ format: new Mp4OutputFormat(), target });
    const pictures = new EncodedVideoPacketSource(pictureCodec);
    const sounds = new EncodedAudioPacketSource(soundCodec);
    output.addVideoTrack(pictures, { rotation: await picture.getRotation() });
    output.addAudioTrack(sounds);
    await output.start();
    const pictureConfig = await picture.getDecoderConfig();
    const soundConfig = await sound.getDecoderConfig();
    for await (const packet of new EncodedPacketSink(picture).packets()) {
      await pictures.add(packet, pictureConfig ? { decoderConfig: pictureConfig } : undefined);
    }
    for await (const packet of new EncodedPacketSink(sound).packets()) {
      await sounds.add(packet, soundConfig ? { decoderConfig: soundConfig } : undefined);
    }
    await output.finalize();
    return target.buffer === null ? undefined : Buffer.from(target.buffer);
  } finally {
    pictureInput.dispose();
    soundInput.dispose();
  }
}
