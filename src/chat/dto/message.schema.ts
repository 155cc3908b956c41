import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  anyOfType,
  ChatCustomCall,
  ChatCustomTool,
  ChatFunctionCall,
  ChatFunctionTool,
  ChatJsonObjectFormat,
  ChatJsonSchemaFormat,
  ChatTextFormat,
  TOOL_CALLS_SCHEMA,
} from './chat-tools.schema.js';

/** The role of a message (decision G-92). */
export const ROLES = ['system', 'developer', 'user', 'assistant', 'tool'] as const;

class ChatTextPart {
  @ApiProperty({ enum: ['text'] })
  type!: 'text';

  @ApiProperty()
  text!: string;
}

class ChatRefusalPart {
  @ApiProperty({ enum: ['refusal'] })
  type!: 'refusal';

  @ApiProperty()
  refusal!: string;
}

class ChatImage {
  @ApiProperty({ description: 'http or https URL, or data URL of an image' })
  url!: string;

  @ApiPropertyOptional({ enum: ['auto', 'low', 'high', 'original'] })
  detail?: string;
}

class ChatImagePart {
  @ApiProperty({ enum: ['image_url'] })
  type!: 'image_url';

  @ApiProperty()
  image_url!: ChatImage;
}

/** A message, for the documentation; `checkMessages` checks it. */
export class ChatMessage {
  @ApiProperty({ enum: ROLES })
  role!: string;

  @ApiPropertyOptional({
    description: 'A text or parts; null where the assistant only calls tools',
    oneOf: [
      { type: 'string', nullable: true },
      { type: 'array', items: anyOfType(ChatTextPart, ChatImagePart, ChatRefusalPart) },
    ],
  })
  content?: unknown;

  @ApiPropertyOptional()
  name?: string;

  @ApiPropertyOptional(TOOL_CALLS_SCHEMA)
  tool_calls?: unknown;

  @ApiPropertyOptional({ description: 'In a tool message: the call that it answers' })
  tool_call_id?: string;
}

/** The schemas that the chat body and its response refer to. */
export const CHAT_SCHEMAS = [
  ChatMessage,
  ChatTextPart,
  ChatImagePart,
  ChatRefusalPart,
  ChatFunctionTool,
  ChatCustomTool,
  ChatFunctionCall,
  ChatCustomCall,
  ChatTextFormat,
  ChatJsonObjectFormat,
  ChatJsonSchemaFormat,
];
