import type { TrackDurations } from '../track-durations.js';
import { unsupportedMedia } from '../unsupported-media.error.js';
import { type OggPage, oggPages } from './ogg-page.js';
import { OggStream, oggStreamKind } from './ogg-stream.js';

const STREAMS_MAX = 1_000;

/**
 * Duration of an Ogg file (Opus, Vorbis, FLAC; with Theora) from its packets. Streams that begin together are played
 * together, so the longest counts. Streams that begin after data are further links of a chain and add up (RFC 3533 §4).
 */
export function oggDuration(bytes: Buffer): TrackDurations {
  const links = readLinks(bytes);
  let audioMicros = 0n;
  let videoMicros: bigint | undefined;
  links.forEach((streams, index) => {
    // A decoder drops the priming samples of the first link only.
    audioMicros += longest(streams, 'audio', index === 0) ?? 0n;
    const video = longest(streams, 'video', false);
    if (video !== undefined) videoMicros = (videoMicros ?? 0n) + video;
  });
  return { audioMicros, ...(videoMicros !== undefined && { videoMicros }) };
}

function readLinks(bytes: Buffer): OggStream[][] {
  const links: OggStream[][] = [];
  const current = new Map<number, OggStream>();
  let count = 0;
  for (const page of oggPages(bytes)) {
    let stream = current.get(page.serial);
    const kind = beginning(bytes, page);
    if (kind !== undefined && (page.isFirst || stream === undefined)) {
      count += 1;
      if (count > STREAMS_MAX) throw unsupportedMedia('it holds too many streams');
      stream = new OggStream(kind);
      current.set(page.serial, stream);
      const link = links.at(-1);
      if (link === undefined || link.some((other) => other.hasData)) links.push([stream]);
      else link.push(stream);
    }
    if (stream === undefined) throw unsupportedMedia('it holds a stream that is not supported');
    stream.add(bytes, page);
  }
  return links;
}

function beginning(bytes: Buffer, page: OggPage): ReturnType<typeof oggStreamKind> {
  const [first] = page.parts;
  return first === undefined ? undefined : oggStreamKind(bytes.subarray(first[0], first[1]));
}

function longest(
  streams: readonly OggStream[],
  kind: 'audio' | 'video',
  skipStart: boolean,
): bigint | undefined {
  let longestMicros: bigint | undefined;
  for (const stream of streams) {
    if (stream.kind !== kind) continue;
    const micros = stream.micros(skipStart);
    if (longestMicros === undefined || micros > longestMicros) longestMicros = micros;
  }
  return longestMicros;
}
