import { applyDecorators, type Type } from '@nestjs/common';
import { ApiBody, ApiOperation } from '@nestjs/swagger';
import { EXAMPLE_RECORDING, exampleMediaUrl } from '../common/example-media.js';
import { Custom, ModelId, Text } from '../common/validation/fields.js';
import type { AdmittedCall } from '../admission/admitted-call.js';
import type { MediaSource } from '../media/media-intake.js';
import type { Upload } from '../media/upload.js';
import { DeferrableBody } from '../tasks/deferred/deferrable.decorator.js';
import { MAX_URL_CHARACTERS } from '../platform/http-client/public-url.js';

const IN_JSON =
  'The same fields are taken as `application/json`, where `audio_url` names the recording.';

/** The fields of every endpoint that takes a recording: the model, and a file or a URL (API: Recordings). */
export function recordingBody(exampleModel: string) {
  class RecordingBody extends DeferrableBody {
    @ModelId({ example: exampleModel })
    model!: string;

    /**
     * The form's file part, which never appears in the checked body. Clients that send every field of the class send
     * null.
     */
    @Custom(() => false, 'must be a file part of a form', {
      optional: true,
      description:
        'WAV, AIFF, MP3, AAC, MP4, M4A, MOV, FLAC, Ogg or WebM of at most 50 MB. Send `file` or `audio_url`, not both',
      api: { type: 'string', format: 'binary' },
    })
    file?: never;

    @Text({
      max: MAX_URL_CHARACTERS,
      optional: true,
      description: 'Public http or https URL of such a file, in place of `file`',
      example: exampleMediaUrl(EXAMPLE_RECORDING),
    })
    audio_url?: string;
  }
  return RecordingBody;
}

/** Where the recording of a call comes from. */
export function recordingSourceOf(
  { caller: { accountId }, response }: AdmittedCall,
  { audio_url: url }: { readonly audio_url?: string },
  upload: Upload | undefined,
): MediaSource {
  return { upload, url, accountId, response };
}

/** The texts of an endpoint with a recording, for the OpenAPI document. */
interface RecordingWords {
  readonly summary: string;
  readonly description: string;
  /** Fields of the example, whose recording is given by URL. */
  readonly example: Readonly<Record<string, unknown>>;
}

/** Documents an endpoint that takes a recording. Its JSON body is described in prose only. */
export function RecordingOperation(type: Type, { summary, description, example }: RecordingWords) {
  const { model, ...others } = example;
  const value = { model, audio_url: exampleMediaUrl(EXAMPLE_RECORDING), ...others };
  return applyDecorators(
    ApiBody({ type, examples: { 'by URL': { value } } }),
    ApiOperation({ summary, description: `${description} ${IN_JSON}` }),
  );
}
