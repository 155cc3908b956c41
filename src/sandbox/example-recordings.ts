import { EXAMPLE_RECORDING, EXAMPLE_TRACKS } from '../common/example-media.js';
import { encodedFile } from './media/audio-files/audio-encoder.js';
import { MP3_128 } from './media/audio-files/audio-format.js';
import type { MediaShelf } from './media/media-shelf.js';
import { pieceFile } from './media/audio-files/piece-file.js';
import { speechSound } from './media/sound/speech.js';

const SPEAKER = { pitchHz: 120, speed: 1, seed: 1 };
const WORDS =
  'Hello, who is there? This recording is made by a program and belongs to everyone. It is speech in one voice, about ' +
  'seventeen seconds long, so that it can be written down, aligned, cleaned, spoken by another voice, dubbed and sung. ' +
  'Any other recording can take its place.';
const TRACK_SECONDS = 12;
const SINGER_HZ = 180;

/** Adds the recordings that the examples of the API name to the shelf. One is speech, the others are music. */
export function shelveExamples(shelf: MediaShelf): void {
  const contentType = 'audio/mpeg';
  shelf.keep(EXAMPLE_RECORDING, { contentType, make: spoken });
  for (const name of EXAMPLE_TRACKS) shelf.keep(name, { contentType, make: () => played(name) });
}

const spoken = () => encodedFile(speechSound(WORDS, SPEAKER), MP3_128, WORDS);

function played(style: string): Promise<Buffer> {
  const piece = {
    kind: 'song',
    style,
    lyrics: '',
    seconds: TRACK_SECONDS,
    pitchHz: SINGER_HZ,
  } as const;
  return pieceFile(piece, 'mp3', '');
}
