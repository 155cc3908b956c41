import { Controller } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOperation } from '@nestjs/swagger';
import { type AdmittedCall, Call } from '../admission/admitted-call.js';
import { StrictBody } from '../common/validation/strict-body.pipe.js';
import { IdempotencyKey } from '../admission/idempotency-key.guard.js';
import type { Task } from '../tasks/task.js';
import { TASK_HEADERS, TaskEndpoint } from '../tasks/submission/task-endpoint.decorator.js';
import { DubbingBody, DubbingExample } from './dto/dubbing.body.js';
import { DubbingService } from './dubbing.service.js';
import { DubbingTaskView } from './dubbing.view.js';

/** Dubbing. */
@Controller()
export class DubbingController {
  constructor(private readonly dubbing: DubbingService) {}

  @TaskEndpoint('dubbing', {
    codes: [
      'invalid_request',
      'invalid_task_command',
      'unsupported_audio_format',
      'media_too_long',
      'audio_download_failed',
      'audio_too_large',
      'insufficient_funds',
      'model_not_available',
    ],
  })
  @ApiOperation({
    summary: 'Dubbing',
    description:
      'A recording or video in another language. Billed per second of the source; held at submission, charged on success.',
  })
  @DubbingExample()
  @ApiAcceptedResponse({ type: DubbingTaskView, headers: TASK_HEADERS })
  createDubbing(
    @Call() call: AdmittedCall<'dubbing'>,
    @StrictBody() body: DubbingBody,
    @IdempotencyKey() key: string | undefined,
  ): Promise<Task> {
    return this.dubbing.dub(call, body, key);
  }
}
