import type { Type } from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import { EXAMPLE_RECORDING, exampleMediaUrl } from '../common/example-media.js';
import { Checked, ModelId, Text } from '../common/validation/fields.js';
import { MAX_URL_CHARACTERS } from '../net/public-url.js';

/** The fields of every endpoint that takes a recording: the model, and a file or a URL (spec: shared audio rules, 4). */
export function recordingBody(exampleModel: string) {
  class RecordingBody {
    @ModelId({ example: exampleModel })
    model!: string;

    /** A part of the form, which is never in the checked body. Clients that send every field of the class send null. */
    @Checked(() => false, 'must be a file part of a form', {
      optional: true,
      description:
        'multipart/form-data only: WAV, AIFF, MP3, AAC, MP4, M4A, MOV, FLAC, Ogg or WebM of at most 50 MB. Send `file` or `audio_url`, not both',
      api: { type: 'string', format: 'binary' },
    })
    file?: never;

    @Text({
      max: MAX_URL_CHARACTERS,
      optional: true,
      description: 'Public http or https URL of such a file, in place of `file`',
    })
    audio_url?: string;
  }
  return RecordingBody;
}

/**
 * Documents the body with an example of its JSON form, which cannot hold a file. For the form, the fields are shown one
 * by one.
 */
export function RecordingExample(type: Type, fields: Readonly<Record<string, unknown>>) {
  const { model, ...others } = fields;
  const value = { model, audio_url: exampleMediaUrl(EXAMPLE_RECORDING), ...others };
  return ApiBody({ type, examples: { 'by URL': { value } } });
}
