import type { SandboxExchange } from '../http/sandbox-exchange.js';
import { WireAnswer, WireFault } from '../http/protocol.js';
import { readForm } from '../http/request-body.js';
import { type HeardAudio, hearAudio } from '../media/audio-files/heard-audio.js';
import { BodyFields } from './body-fields.js';

/** A multipart request with one recording. */
export interface UploadedAudio {
  readonly file: Buffer;
  readonly heard: HeardAudio;
  readonly fields: BodyFields;
}

/**
 * Reads the recording in form field `name`; 422 when it is missing, 400 `invalid_audio` when its length cannot be read.
 */
export async function uploadedAudio(
  exchange: SandboxExchange,
  name: string,
): Promise<UploadedAudio> {
  const form = await readForm(exchange.body, exchange.header('content-type'));
  const file = form?.files.get(name);
  if (form === undefined || file === undefined) {
    throw new WireAnswer(422, {
      detail: [{ type: 'missing', loc: ['body', name], msg: 'Field required' }],
    });
  }
  const heard = await hearAudio(file);
  if (heard !== undefined) return { file, heard, fields: BodyFields.ofForm(form.fields) };
  throw new WireFault({
    status: 400,
    code: 'invalid_audio',
    message: 'The audio file could not be read.',
  });
}
