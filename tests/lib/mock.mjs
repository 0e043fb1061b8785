// SPDX-License-Identifier: Apache-2.0
//
// The model's side of a conversation, for Claude Code: mock.mjs PORT COMMAND LOG
//
// It listens on 127.0.0.1:PORT. To the first message it answers with a call of the Bash tool that
// runs COMMAND, to the one that brings the tool's result with the text MOCK-DONE. Each request is
// a line of JSON in LOG, which exists as soon as connections are accepted.
import { appendFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [port, command, log] = process.argv.slice(2);

function hasToolResult(request) {
	return (request.messages ?? []).some(
		(message) =>
			Array.isArray(message.content) &&
			message.content.some((block) => block.type === 'tool_result'),
	);
}

function answerBlock(request) {
	const bash = (request.tools ?? []).find((tool) => tool.name === 'Bash');

	if (!bash || hasToolResult(request)) return { type: 'text', text: 'MOCK-DONE' };
	return {
		type: 'tool_use',
		id: 'toolu_mock',
		name: 'Bash',
		input: { command, description: 'what the test asks for' },
	};
}

// The events of the Messages API's stream for one content block
function streamEvents(request, block) {
	const isTool = block.type === 'tool_use';
	const message = {
		id: 'msg_mock',
		type: 'message',
		role: 'assistant',
		model: request.model,
		content: [],
		stop_reason: null,
		stop_sequence: null,
		usage: { input_tokens: 1, output_tokens: 1 },
	};

	return [
		{ type: 'message_start', message },
		{
			type: 'content_block_start',
			index: 0,
			content_block: isTool ? { ...block, input: {} } : { ...block, text: '' },
		},
		{
			type: 'content_block_delta',
			index: 0,
			delta: isTool
				? { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
				: { type: 'text_delta', text: block.text },
		},
		{ type: 'content_block_stop', index: 0 },
		{
			type: 'message_delta',
			delta: { stop_reason: isTool ? 'tool_use' : 'end_turn', stop_sequence: null },
			usage: { output_tokens: 1 },
		},
		{ type: 'message_stop' },
	];
}

function answer(request, response) {
	const block = answerBlock(request);

	if (!request.stream) {
		response.writeHead(200, { 'content-type': 'application/json' });
		response.end(
			JSON.stringify({
				id: 'msg_mock',
				type: 'message',
				role: 'assistant',
				model: request.model,
				content: [block],
				stop_reason: block.type === 'tool_use' ? 'tool_use' : 'end_turn',
				stop_sequence: null,
				usage: { input_tokens: 1, output_tokens: 1 },
			}),
		);
		return;
	}
	response.writeHead(200, { 'content-type': 'text/event-stream' });
	for (const event of streamEvents(request, block))
		response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
	response.end();
}

function parse(text) {
	try {
		return JSON.parse(text);
	} catch {
		return {}; // HEAD and GET have no body
	}
}

createServer(async (incoming, response) => {
	const chunks = [];

	for await (const chunk of incoming) chunks.push(chunk);
	const request = parse(Buffer.concat(chunks).toString());
	const path = incoming.url.split('?')[0];

	appendFileSync(log, JSON.stringify({ method: incoming.method, path, request }) + '\n');
	if (incoming.method === 'POST' && path === '/v1/messages') {
		answer(request, response);
		return;
	}
	response.writeHead(404, { 'content-type': 'application/json' });
	response.end(JSON.stringify({ type: 'error', error: { type: 'not_found_error', message: path } }));
}).listen(Number(port), '127.0.0.1', () => writeFileSync(log, ''));
