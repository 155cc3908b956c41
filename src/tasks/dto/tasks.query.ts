import { MAX_ID_CHARS } from '../../common/ids/public-id.js';
import { PageQuery } from '../../common/paging/page.query.js';
import { MAX_EPOCH_SECONDS } from '../../common/time/clock.js';
import { ModelId, Enum, Text, Int } from '../../common/validation/fields.js';
import { TASK_MODALITIES, type TaskModality, type TaskStatus } from '../task.js';
import { TASK_STATUSES } from '../task.view.js';

const MAX_CLIENT_REQUEST_ID = 128;
const optional = { optional: true } as const;

/** Query of GET /v1/tasks. */
export class TasksQuery extends PageQuery {
  @Enum(TASK_STATUSES, {
    ...optional,
    description: 'Tasks in one status',
    hint: 'a video that says completed is succeeded here, one that says in_progress is processing',
  })
  status?: TaskStatus;

  @ModelId(optional)
  model?: string;

  @Enum(TASK_MODALITIES, {
    ...optional,
    description:
      'Tasks that make or read audio (songs, tunes, dubs, audio calls as tasks), images, video, or text (responses that are made in the background)',
  })
  modality?: TaskModality;

  @Int({ min: 0, max: MAX_EPOCH_SECONDS, ...optional, description: 'Epoch seconds, inclusive' })
  created_after?: number;

  @Int({ min: 0, max: MAX_EPOCH_SECONDS, ...optional, description: 'Epoch seconds, exclusive' })
  created_before?: number;

  @Text({
    max: MAX_CLIENT_REQUEST_ID,
    ...optional,
    description: 'Tasks that were submitted with this `X-Client-Request-Id`',
  })
  client_request_id?: string;
}

/** Query of GET /admin/tasks. */
export class AdminTasksQuery extends TasksQuery {
  @Text({ max: MAX_ID_CHARS, ...optional, description: 'Tasks of one account, by its id' })
  account_id?: string;

  @Text({ max: MAX_ID_CHARS, ...optional, description: 'Tasks of one key, by its id' })
  api_key_id?: string;
}
