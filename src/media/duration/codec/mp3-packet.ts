import { unsupportedMedia } from '../unsupported-media.error.js';
import { readMpegFrame } from './mpeg-frame.js';
import type { PacketCodec } from './packet-codec.js';

/**
 * MP3 in a container: every frame of a packet counts. Throws `unsupported_audio_format` when a frame has another rate.
 */
export function mp3Packets(rateHz: number): PacketCodec {
  return {
    rateHz,
    preSkip: 0,
    samplesOf(bytes, at, end) {
      let samples = 0;
      let cursor = at;
      while (cursor >= 0 && cursor < end) {
        const frame = readMpegFrame(bytes, cursor);
        if (frame === undefined) {
          cursor = bytes.indexOf(0xff, cursor + 1);
          continue;
        }
        if (frame.rateHz !== rateHz) throw unsupportedMedia('its sample rate changes');
        samples += frame.samples;
        cursor += frame.bytes;
      }
      return samples;
    },
  };
}
