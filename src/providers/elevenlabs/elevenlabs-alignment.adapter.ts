import type { JsonObject } from '../../common/json-object.js';
import { listAt, numberAt, textAt } from '../http/json-fields.js';
import type { ProviderHttp } from '../http/provider-http.js';
import { multipartBody } from '../http/request-body.js';
import type { AlignmentCommand, AlignmentPort, AlignmentResult } from '../ports/transcript.port.js';
import type { AttemptContext } from '../ports/attempt.js';
import { MAX_TRANSCRIPT_BYTES } from './elevenlabs-transcription.adapter.js';

/** Forced alignment over the ElevenLabs wire protocol, which has no model name for it. */
export class ElevenLabsAlignment implements AlignmentPort {
  constructor(private readonly http: ProviderHttp) {}

  async align(
    { media, text }: AlignmentCommand,
    { signal, terms, onFigures }: AttemptContext,
  ): Promise<AlignmentResult> {
    return this.http.requestJson(
      {
        method: 'POST',
        path: '/v1/forced-alignment',
        body: multipartBody({ text }, 'file', media),
        timeout: 'audio',
        signal,
        terms,
        onFigures,
      },
      MAX_TRANSCRIPT_BYTES,
      toResult,
    );
  }
}

function toResult(json: JsonObject, providerRequestId: string | null) {
  const words = listAt(json, 'words');
  if (!words) return undefined;
  return {
    words: words.map((word) => ({
      text: textAt(word, 'text') ?? '',
      start: numberAt(word, 'start'),
      end: numberAt(word, 'end'),
      loss: numberAt(word, 'loss'),
    })),
    loss: numberAt(json, 'loss'),
    providerRequestId,
  };
}
