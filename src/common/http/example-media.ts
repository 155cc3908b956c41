/** Where the recordings of the examples lie in the committed API document: a host that does not exist (RFC 2606). */
export const EXAMPLE_MEDIA_URL = 'https://media.example';

/** The recording of the examples. */
export const EXAMPLE_RECORDING = 'recording.mp3';
/** As many tracks as a song model of one's own needs at least. */
export const EXAMPLE_TRACKS = [1, 2, 3, 4, 5, 6].map((number) => `track-${number}.mp3`);

/** URL of one of them in an example; a gateway with a sandbox serves the document with URLs of its own in their place. */
export function exampleMediaUrl(name: string): string {
  return `${EXAMPLE_MEDIA_URL}/${name}`;
}
