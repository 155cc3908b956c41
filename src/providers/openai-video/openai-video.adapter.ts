import type { JsonObject } from '../../common/json-object.js';
import { contentTypeOf, isMessageType } from '../http/response-body.js';
import { failureOfFinished, isSuccessWord, unfinishedJob } from '../http/job-state.js';
import { jobIdAt, numberAt, textAt } from '../http/json-fields.js';
import type { ProviderHttp } from '../http/provider-http.js';
import { jsonBody } from '../http/request-body.js';
import type { AttemptContext } from '../ports/attempt.js';
import type { VideoCommand, VideoContent, VideoPort, VideoReport } from '../ports/job.port.js';

const MAX_ANSWER_BYTES = 1024 * 1024;

/** Videos over the wire protocol of OpenAI's `/videos`, with the fields other vendors add to it. */
export class OpenAiVideo implements VideoPort {
  constructor(private readonly http: ProviderHttp) {}

  submitVideo(command: VideoCommand, context: AttemptContext): Promise<string> {
    const { prompt, seconds, size, aspectRatio, imageUrls } = command;
    const body = jsonBody({
      model: context.upstreamModel,
      prompt,
      seconds,
      size,
      aspect_ratio: aspectRatio,
      image_urls: imageUrls,
    });
    return this.http.requestJson(
      { method: 'POST', path: '/videos', body, timeout: 'submit', context },
      MAX_ANSWER_BYTES,
      (video) => jobIdAt(video, 'id'),
    );
  }

  readVideo(jobId: string, context: AttemptContext): Promise<VideoReport> {
    return this.http.requestJson(
      { method: 'GET', path: `/videos/${jobId}`, timeout: 'poll', context },
      MAX_ANSWER_BYTES,
      reportOf,
    );
  }

  async openVideo(jobId: string, context: AttemptContext): Promise<VideoContent> {
    const response = await this.http.request({
      method: 'GET',
      path: `/videos/${jobId}/content`,
      timeout: 'download',
      context,
      mayRedirect: true,
    });
    if (response.redirectUrl !== undefined) {
      response.body.on('error', () => undefined).destroy();
      return { redirectUrl: response.redirectUrl };
    }
    const contentType = contentTypeOf(response);
    if (isMessageType(contentType)) throw await this.http.noFile(response, 'no_video');
    return { body: response.body, contentType };
  }
}

/** Undefined for a response without a state, which is unusable. */
function reportOf(video: JsonObject, requestId: string | null): VideoReport | undefined {
  const status = textAt(video, 'status');
  if (status === null) return undefined;
  const progress = numberAt(video, 'progress');
  if (isSuccessWord(status))
    return failureOfFinished(video, requestId) ?? { state: 'succeeded', progress };
  return unfinishedJob(status, video, requestId, progress);
}
