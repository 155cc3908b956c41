import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { sniffFile } from '../http/audio-sniff.js';
import { fileIn, isMessageType } from '../http/response-body.js';
import { failureOfFinished, isSuccessWord, unfinishedJob } from '../http/job-state.js';
import { jobIdAt, numberAt, textAt } from '../http/json-fields.js';
import type { ProviderHttp } from '../http/provider-http.js';
import { multipartBody } from '../http/request-body.js';
import type { AttemptContext } from '../ports/attempt.js';
import type { DubbingCommand, DubbingPort, DubbingReport, OpenedFile } from '../ports/job.port.js';

const MAX_ANSWER_BYTES = 1024 * 1024;
/** A longer text is neither a language nor a media type. */
const MAX_WORD_CHARACTERS = 255;

/** Dubbing over the ElevenLabs wire protocol (`/v1/dubbing`). */
export class ElevenLabsDubbing implements DubbingPort {
  constructor(private readonly http: ProviderHttp) {}

  submitDub(command: DubbingCommand, context: AttemptContext): Promise<string> {
    const fields = {
      name: command.name,
      target_lang: command.targetLanguage,
      source_lang: command.sourceLanguage,
      num_speakers: command.numSpeakers,
      highest_resolution: command.highestResolution,
      drop_background_audio: command.dropBackgroundAudio,
      watermark: false,
      dubbing_studio: false,
      mode: 'automatic',
    };
    const body = multipartBody(fields, [{ field: 'file', file: command.media }]);
    return this.http.requestJson(
      { method: 'POST', path: '/v1/dubbing', body, timeout: 'submit', context },
      MAX_ANSWER_BYTES,
      (json) => jobIdAt(json, 'dubbing_id'),
    );
  }

  readDub(jobId: string, context: AttemptContext): Promise<DubbingReport> {
    return this.http.requestJson(
      { method: 'GET', path: `/v1/dubbing/${jobId}`, timeout: 'poll', context },
      MAX_ANSWER_BYTES,
      reportOf,
    );
  }

  async openDub(
    jobId: string,
    targetLanguage: string,
    context: AttemptContext,
  ): Promise<OpenedFile> {
    const response = await this.http.request({
      method: 'GET',
      path: `/v1/dubbing/${jobId}/audio/${encodeURIComponent(targetLanguage)}`,
      timeout: 'download',
      context,
    });
    const file = fileIn(response);
    if (isMessageType(file.contentType) || !(await sniffFile(response.body)))
      throw await this.http.noFile(response, 'no_media');
    return file;
  }

  async removeDub(jobId: string, context: AttemptContext): Promise<void> {
    const path = `/v1/dubbing/${jobId}`;
    const { body } = await this.http.request({
      method: 'DELETE',
      path,
      timeout: 'poll',
      context,
    });
    // The status of the response is enough; its body is not needed.
    body.on('error', () => undefined).destroy();
  }
}

/** Undefined for a response without a state, which is unusable. */
function reportOf(json: JsonObject, requestId: string | null): DubbingReport | undefined {
  const status = textAt(json, 'status');
  if (status === null) return undefined;
  const isDubbed = /^dubbed$/i.test(status) || isSuccessWord(status);
  if (!isDubbed) return unfinishedJob(status, json, requestId, null);
  const failed = failureOfFinished(json, requestId);
  if (failed) return failed;
  const media = isJsonObject(json.media_metadata) ? json.media_metadata : {};
  const language = wordAt(json, 'source_language');
  const duration = numberAt(media, 'duration');
  return {
    state: 'succeeded',
    sourceLanguage: language === 'auto' ? null : language,
    contentType: wordAt(media, 'content_type'),
    durationSeconds: duration !== null && duration >= 0 ? duration : null,
  };
}

function wordAt(json: JsonObject, key: string): string | null {
  const text = textAt(json, key);
  return text !== null && text.length <= MAX_WORD_CHARACTERS ? text : null;
}
