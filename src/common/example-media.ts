/**
 * Base of the recordings that the examples of the committed API document name: a host that does not exist (RFC 2606).
 */
export const EXAMPLE_MEDIA_URL = 'https://media.example';

/** The recording of the examples. */
export const EXAMPLE_RECORDING = 'recording.mp3';
/** The smallest number of tracks for which a song model can be trained. */
export const EXAMPLE_TRACKS = [1, 2, 3, 4, 5, 6].map((number) => `track-${number}.mp3`);

/**
 * URL of an example recording. A gateway with a sandbox replaces it by a URL of its own when it serves the document.
 */
export function exampleMediaUrl(name: string): string {
  return `${EXAMPLE_MEDIA_URL}/${name}`;
}
