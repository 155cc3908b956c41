import { Module } from '@nestjs/common';
import { StoredResponsesModule } from '../stored-responses/stored-responses.module.js';
import { TextModule } from '../text/text.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { BackgroundObjects } from './background/background-objects.js';
import { BackgroundReads } from './background/background-reads.js';
import { ReplayedResponseInterceptor, ResponseModelGuard } from './background/background-replay.js';
import { BackgroundResponseKind } from './background/background-response.kind.js';
import { BackgroundSubmission } from './background/background-submission.js';
import { BackgroundWork } from './background/background-work.js';
import { ItemIds } from './input/item-ids.js';
import { ReasoningSeal } from './input/reasoning-seal.js';
import { ResponseInputs } from './input/response-inputs.js';
import { PreparedResponses } from './prepared-responses.js';
import { ResponseQuotes } from './response-quotes.js';
import { ResponseReads } from './response-reads.js';
import { ResponsesController } from './responses.controller.js';
import { ResponsesService } from './responses.service.js';
import { StoredResponsesController } from './stored-responses.controller.js';

/** Responses: the face of text with stored conversations. */
@Module({
  imports: [TextModule, StoredResponsesModule, TasksModule],
  controllers: [ResponsesController, StoredResponsesController],
  providers: [
    ResponsesService,
    ResponseReads,
    ResponseQuotes,
    ResponseInputs,
    PreparedResponses,
    ItemIds,
    ReasoningSeal,
    BackgroundObjects,
    BackgroundWork,
    BackgroundReads,
    BackgroundSubmission,
    ReplayedResponseInterceptor,
    ResponseModelGuard,
    BackgroundResponseKind,
  ],
})
export class ResponsesModule {}
