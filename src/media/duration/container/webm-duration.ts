import type { TrackDurations } from '../track-durations.js';
import { unsupportedMedia } from '../unsupported-media.error.js';
import { children, type EbmlElement, readElement, readUnsigned } from './ebml-element.js';
import { readBlock } from './webm-block.js';
import { WebmTrack } from './webm-track.js';

const SEGMENT = 0x18538067;
const INFO = 0x1549a966;
const TICK_NANOS = 0x2ad7b1;
const TRACKS = 0x1654ae6b;
const TRACK_ENTRY = 0xae;
const CLUSTER = 0x1f43b675;
const CLUSTER_TIME = 0xe7;
const SIMPLE_BLOCK = 0xa3;
const BLOCK_GROUP = 0xa0;
const BLOCK = 0xa1;
const DISCARD_PADDING = 0x75a2;
const TICK_NANOS_DEFAULT = 1_000_000;
/**
 * Void and checksum, which are allowed everywhere; and in the segment cues, chapters, tags, attachments and seek head.
 */
const SKIPPED_ANYWHERE = [0xec, 0xbf];
const SKIPPED_IN_SEGMENT = new Set([
  ...SKIPPED_ANYWHERE,
  0x1c53bb6b,
  0x1043a770,
  0x1254c367,
  0x1941a469,
  0x114d9b74,
]);
/** Position, previous size, silent tracks. */
const SKIPPED_IN_CLUSTER = new Set([...SKIPPED_ANYWHERE, 0xa7, 0xab, 0x5854]);

/**
 * Duration of a WebM file (Opus, Vorbis) from the frames in its blocks. The Duration element is ignored. A file with an
 * unexpected or cut-off element is rejected, because some decoder may find and play the data behind it.
 */
export function webmDuration(bytes: Buffer): TrackDurations {
  const header = readElement(bytes, 0, bytes.length);
  const segment = readElement(bytes, header.end, bytes.length);
  if (segment.id !== SEGMENT || segment.end !== bytes.length) {
    throw unsupportedMedia('it is not one WebM segment');
  }
  return new WebmSegment(bytes).read(segment);
}

class WebmSegment {
  private tickNanos = TICK_NANOS_DEFAULT;
  private readonly tracks = new Map<number, WebmTrack>();

  constructor(private readonly bytes: Buffer) {}

  read(segment: EbmlElement): TrackDurations {
    for (let at = segment.at; at < segment.end;) {
      const element = readElement(this.bytes, at, segment.end);
      at = element.id === CLUSTER ? this.readCluster(element) : element.end;
      if (element.id === INFO) this.readInfo(element);
      else if (element.id === TRACKS) this.readTracks(element);
      else if (element.id !== CLUSTER && !SKIPPED_IN_SEGMENT.has(element.id)) {
        throw unsupportedMedia('its structure is broken');
      }
    }
    return { audioMicros: this.longest('audio') ?? 0n, ...videoOf(this.longest('video')) };
  }

  private readInfo(info: EbmlElement): void {
    for (const child of children(this.bytes, info)) {
      if (child.id === TICK_NANOS) this.tickNanos = readUnsigned(this.bytes, child);
    }
  }

  private readTracks(tracks: EbmlElement): void {
    if (this.tracks.size > 0) throw unsupportedMedia('it lists its tracks twice');
    for (const child of children(this.bytes, tracks)) {
      if (child.id !== TRACK_ENTRY) continue;
      const track = new WebmTrack(this.bytes, child);
      if (this.tracks.has(track.number)) throw unsupportedMedia('two tracks have one number');
      this.tracks.set(track.number, track);
    }
  }

  /** Returns the end of the cluster. A cluster of unknown size ends where an element of the segment begins. */
  private readCluster(cluster: EbmlElement): number {
    let clusterTick = 0;
    let at = cluster.at;
    while (at < cluster.end) {
      const element = readElement(this.bytes, at, cluster.end);
      if (element.id === CLUSTER_TIME) clusterTick = readUnsigned(this.bytes, element);
      else if (element.id === SIMPLE_BLOCK) this.addBlock(element, clusterTick, 0);
      else if (element.id === BLOCK_GROUP) this.addGroup(element, clusterTick);
      else if (!SKIPPED_IN_CLUSTER.has(element.id)) {
        if (cluster.hasKnownSize) throw unsupportedMedia('its structure is broken');
        return at;
      }
      at = element.end;
    }
    return at;
  }

  private addGroup(group: EbmlElement, clusterTick: number): void {
    let block: EbmlElement | undefined;
    // Negative paddings are read as huge numbers, longer than any frame, so they are ignored.
    let discardNanos = 0;
    for (const child of children(this.bytes, group)) {
      if (child.id === BLOCK) block = child;
      if (child.id === DISCARD_PADDING) discardNanos = readUnsigned(this.bytes, child);
    }
    if (block !== undefined) this.addBlock(block, clusterTick, discardNanos);
  }

  private addBlock(element: EbmlElement, clusterTick: number, discardNanos: number): void {
    const block = readBlock(this.bytes, element);
    const track = this.tracks.get(block.track);
    if (track === undefined) throw unsupportedMedia('a block belongs to no track');
    track.add(this.bytes, block.frames, clusterTick + block.relativeTick, discardNanos);
  }

  private longest(kind: 'audio' | 'video'): bigint | undefined {
    let longest: bigint | undefined;
    for (const track of this.tracks.values()) {
      if (track.kind !== kind) continue;
      const micros = track.micros(this.tickNanos);
      if (longest === undefined || micros > longest) longest = micros;
    }
    return longest;
  }
}

function videoOf(videoMicros: bigint | undefined): Partial<TrackDurations> {
  return videoMicros === undefined ? {} : { videoMicros };
}
