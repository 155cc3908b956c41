import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { ApiKeyAuth } from '../auth/api-key-auth.decorator.js';
import { type PremadeVoice, VOICES } from '../catalog/voices.js';

/** A premade voice. */
export class VoiceView implements PremadeVoice {
  @ApiProperty({ example: 'pNInz6obpgDQGcFmaJgB', description: 'Taken as `voice`, like the name' })
  id!: string;

  @ApiProperty({ example: 'Adam', description: 'Name of the voice, which `voice` takes too' })
  name!: string;

  @ApiProperty({ enum: ['Male', 'Female', 'Neutral'], description: 'What it sounds like' })
  gender!: PremadeVoice['gender'];

  @ApiProperty({
    enum: ['American', 'British', 'Australian'],
    description: 'The accent of its English',
  })
  accent!: PremadeVoice['accent'];
}

/** The voices. */
export class VoiceListView {
  @ApiProperty({ enum: ['list'], description: 'Says what kind of object this is' })
  object!: 'list';

  @ApiProperty({ type: [VoiceView], description: 'The voices' })
  data!: readonly VoiceView[];
}

/** Discovery of the voices that speech, dialogue and voice changer take (API: GET /v1/voices). */
@ApiTags('models')
@ApiKeyAuth('read', 'call')
@Controller('v1/voices')
export class VoicesController {
  @Get()
  @ApiOperation({
    summary: 'The voices',
    description: 'Each can be sent as `voice` by its id or by its name.',
  })
  @ApiOkResponse({ type: VoiceListView })
  listVoices(): VoiceListView {
    return { object: 'list', data: VOICES };
  }
}
