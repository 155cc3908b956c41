import { Body, Controller } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOperation } from '@nestjs/swagger';
import { type AdmittedCall, Call } from '../admission/admitted-call.js';
import { IdempotencyKey } from '../admission/idempotency-key.guard.js';
import { TASK_HEADERS, TaskEndpoint } from '../tasks/submission/task-endpoint.decorator.js';
import type { Task } from '../tasks/task.js';
import { SongTask } from './dto/shared-groups.body.js';
import { SongBodies } from './dto/song-bodies.decorator.js';
import { SongBodyPipe } from './dto/song-body.pipe.js';
import { MusicService } from './music.service.js';
import { SongTaskView } from './song-result.view.js';

/** Songs and tunes. */
@Controller()
export class MusicController {
  constructor(private readonly music: MusicService) {}

  @TaskEndpoint('song', {
    codes: [
      'invalid_music_request',
      'invalid_task_command',
      'audio_download_failed',
      'source_task_not_ready',
      'insufficient_funds',
      'model_not_available',
    ],
  })
  @ApiOperation({
    summary: 'Songs and tunes',
    description:
      'Each model is one operation with fields of its own. A follow-up names an earlier task and one of its tracks. The price is held at submission and charged on success; files are kept for about 72 hours.',
  })
  @SongBodies()
  @ApiAcceptedResponse({ type: SongTaskView, headers: TASK_HEADERS })
  createSong(
    @Call() call: AdmittedCall<'song'>,
    @Body(SongBodyPipe) body: SongTask,
    @IdempotencyKey() key: string | undefined,
  ): Promise<Task> {
    return this.music.submit(call, body, key);
  }
}
