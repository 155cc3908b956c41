import type { TrackDurations } from '../track-durations.js';
import { unsupportedMedia } from '../unsupported-media.error.js';
import { boxes, type Mp4Box } from './mp4-box.js';
import { readFragment, readFragmentDefaults } from './mp4-fragment.js';
import { readSampleTable } from './mp4-sample-table.js';
import { Mp4Track } from './mp4-track.js';

/**
 * Duration of an MP4, M4A or QuickTime file, fragmented or not, from the packets that its tables place in the file.
 * Durations of movie, track and media are ignored. Edit lists are ignored too, because the parts that they hide can
 * still be played.
 */
export function mp4Duration(bytes: Buffer): TrackDurations {
  const { moov, fragments } = readTop(bytes);
  const tracks = new Map<number, Mp4Track>();
  for (const box of boxes(bytes, moov.at, moov.end)) {
    if (box.type !== 'trak') continue;
    const track = new Mp4Track(bytes, box);
    if (tracks.has(track.id)) throw unsupportedMedia('two tracks have one number');
    tracks.set(track.id, track);
    readSampleTable(bytes, track);
  }
  const defaults = readFragmentDefaults(bytes, moov);
  for (const moof of fragments) readFragment(bytes, moof, tracks, defaults);

  const videoMicros = longest(tracks.values(), 'video');
  const isCounted = [...tracks.values()].some(({ coding }) => coding !== undefined);
  return {
    audioMicros: (isCounted ? longest(tracks.values(), 'audio') : undefined) ?? 0n,
    ...(videoMicros !== undefined && { videoMicros }),
  };
}

function readTop(bytes: Buffer): { moov: Mp4Box; fragments: Mp4Box[] } {
  const fragments: Mp4Box[] = [];
  let moov: Mp4Box | undefined;
  for (const box of boxes(bytes, 0, bytes.length)) {
    if (box.type === 'moof') fragments.push(box);
    if (box.type !== 'moov') continue;
    if (moov !== undefined) throw unsupportedMedia('it holds two movies');
    moov = box;
  }
  if (moov === undefined) throw unsupportedMedia('it holds no movie');
  return { moov, fragments };
}

function longest(tracks: Iterable<Mp4Track>, kind: 'audio' | 'video'): bigint | undefined {
  let longestMicros: bigint | undefined;
  for (const track of tracks) {
    if (track.kind !== kind) continue;
    const micros = track.micros();
    if (longestMicros === undefined || micros > longestMicros) longestMicros = micros;
  }
  return longestMicros;
}
