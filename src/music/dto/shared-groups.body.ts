import { ExcludedBy, RequiredWith } from '../../common/validation/cross-field-rules.js';
import { Bool, ModelId, Enum, Text, Int } from '../../common/validation/fields.js';
import { AudioWebhook, AudioWebhookSecret } from '../../webhooks/webhook-fields.js';
import {
  AudioUrl,
  EndsAfter,
  EXAMPLE_TASK_ID,
  InCustomMode,
  NegativeTags,
  Seconds,
  StyleText,
  TaskId,
  Title,
} from './song-fields.js';

const MAX_INDEX = 8;
const optional = { optional: true } as const;

/** What every song task has. */
export class SongTask {
  @ModelId({ description: 'One operation; decides which other fields there are' })
  model!: string;

  @AudioWebhook()
  webhook?: string;

  @AudioWebhookSecret()
  webhook_secret?: string;
}

/** A track of an earlier task. */
export class SourceTrack {
  @TaskId('Task that holds the source track; it must have succeeded')
  source_task_id!: string;

  @Int({
    min: 1,
    max: MAX_INDEX,
    default: 1,
    description: 'Position of the track in `result.tracks` of that task',
  })
  source_index!: number;
}

/** Two tracks, of two earlier tasks or of one. */
export class SourcePair {
  @Text({
    max: 100,
    list: { min: 2, max: 2 },
    description: 'Tasks that hold the two tracks; may be the same task twice',
    example: [EXAMPLE_TASK_ID, EXAMPLE_TASK_ID],
  })
  source_task_ids!: string[];

  @Int({
    min: 1,
    max: MAX_INDEX,
    list: { min: 2, max: 2 },
    default: [1, 1],
    description: 'Positions of the tracks, in the order of the tasks',
  })
  source_indexes!: number[];
}

/** A recording to import. */
export class PublicAudio {
  @AudioUrl('Public http or https URL of the recording')
  audio_url!: string;
}

/** The version of the model alone. */
export class Version {
  @Enum(['v6', 'v6-wild', 'v6-mini'], { ...optional, description: '`v6` unless told otherwise' })
  version?: string;
}

/** The version of the model, or a model of the caller instead. */
export class VersionOrCustomModel {
  @ExcludedBy('custom_model_task_id')
  @Enum(['v6', 'v6-wild', 'v6-mini'], { ...optional, description: '`v6` unless told otherwise' })
  version?: string;

  @TaskId('Task of `song-custom-model` that succeeded; stands in for `version`', optional)
  custom_model_task_id?: string;
}

/** The singer of an earlier track. */
export class PersonaChoice {
  @ExcludedBy('custom_model_task_id')
  @TaskId('Task of `song-persona` that succeeded', optional)
  persona_task_id?: string;
}

/** Max mode on a model that has `custom`. */
export class CustomMaxMode {
  @InCustomMode()
  @Bool({ default: false, description: 'Best quality, at twice the price; needs `custom` = true' })
  max_mode!: boolean;
}

/** Max mode on a model without `custom`. */
export class MaxMode {
  @Bool({ default: false, description: 'Best quality, at twice the price' })
  max_mode!: boolean;
}

/** A range of the source track. */
export class TimeRange {
  @Seconds('Where the range begins, in seconds')
  start_s!: number;

  @EndsAfter('start_s')
  @Seconds('Where the range ends, in seconds')
  end_s!: number;
}

/** A range of the source track, or all of it. */
export class OptionalTimeRange {
  @RequiredWith('end_s')
  @Seconds('Where the range begins, in seconds; with `end_s` or not at all')
  start_s?: number;

  @RequiredWith('start_s')
  @EndsAfter('start_s')
  @Seconds('Where the range ends, in seconds')
  end_s?: number;
}

/** The place at which to continue. */
export class ContinueAt {
  @Seconds('Second to continue from', { from: 'above-zero' })
  continue_at!: number;
}

/** Title and style of a model without `custom`. */
export class FreeStyle {
  @StyleText('Style tags')
  tags?: string;

  @Title()
  title?: string;

  @NegativeTags()
  negative_tags?: string;
}

/** A title alone. */
export class Titled {
  @Title()
  title?: string;
}
