import type { SandboxExchange } from '../http/sandbox-exchange.js';
import { WireFault } from '../http/protocol.js';
import { Magic } from '../magic-inputs.js';
import { spreadWords } from './transcript.js';
import { uploadedAudio } from './uploaded-audio.js';

const MAX_CHARACTERS = 675_000;
/** The loss that the sandbox tells for every word; 0 is perfect. */
const LOSS = 0.05;

/**
 * `POST /v1/forced-alignment`: when each word of a given text is spoken. The words are spread over the length of the
 * recording.
 */
export async function forcedAlignment(exchange: SandboxExchange): Promise<void> {
  const { heard, fields } = await uploadedAudio(exchange, 'file');
  const text = Magic.strip(fields.requiredText('text'));
  fields.finish();
  if (text.trim() === '' || text.length > MAX_CHARACTERS) {
    throw new WireFault({
      status: 400,
      code: 'invalid_text',
      message: 'The text cannot be aligned.',
    });
  }
  const words = spreadWords(text, heard.seconds);
  await exchange.json(
    200,
    {
      characters: words.flatMap((word) => word.characters),
      words: words
        .filter(({ type }) => type !== 'spacing')
        .map(({ text: word, start, end }) => ({ text: word, start, end, loss: LOSS })),
      loss: LOSS,
    },
    { 'request-id': exchange.requestId },
  );
}
