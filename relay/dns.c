/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What a relay has to know of a DNS message
 *
 * Both sides may be hostile: the agent that asks, and the resolver that answers.  A query is
 * checked to its last byte before it goes anywhere.  Of an answer only the header and the
 * question are looked at, and the rest is the client's to judge: it is never parsed here.
 *
 * Nothing here makes a system call or follows a compression pointer.
 */
#include "config.h"

#include <string.h>

#include "dns.h"
#include "err.h"

/* Offsets in the header, RFC 1035 section 4.1.1 */
#define AT_FLAGS 2
#define AT_RCODE 3
#define AT_QDCOUNT 4
#define AT_ANCOUNT 6
#define AT_NSCOUNT 8
#define AT_ARCOUNT 10

/* Of the byte at AT_FLAGS */
#define FLAG_QR 0x80
#define FLAG_OPCODE 0x78
#define FLAG_TC 0x02
#define FLAG_RD 0x01

/* Of the byte at AT_RCODE; CD is RFC 4035 section 3.2.2 */
#define FLAG_RA 0x80
#define FLAG_CD 0x10
#define RCODE 0x0f

#define LABEL_BYTES 63
#define POINTER 0xc0
#define TYPE_OPT 41
#define RECORD_BYTES 10 /* type, class, ttl, length: what follows a record's name */

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static void put16(uint8_t *p, uint16_t value)
{
	p[0] = (uint8_t)(value >> 8);
	p[1] = (uint8_t)value;
}

/*
 * The length of the name at @at, RFC 1035 section 3.1; 0 if it is none.  A pointer ends a name.
 * It may lead to what is before the name alone, so that no chain of them has a loop, section
 * 4.1.4: "a prior occurrence".
 */
static size_t name_bytes(const uint8_t *msg, size_t len, size_t at, bool may_point)
{
	size_t pos = at;

	while (pos < len && pos - at < DNS_NAME_BYTES) {
		uint8_t label = msg[pos];

		if (label == 0)
			return pos + 1 - at;
		if ((label & POINTER) == POINTER) {
			if (!may_point || len - pos < 2 || (get16(msg + pos) & 0x3fff) >= at)
				return 0;
			return pos + 2 - at;
		}
		if (label > LABEL_BYTES)
			return 0;
		pos += 1U + label;
	}
	return 0;
}

static int check_header(const uint8_t *msg, size_t len, struct err *e)
{
	if (len < DNS_HEADER_BYTES)
		return err_set(e, 0, "%zu bytes are no DNS message", len);
	if (len > DNS_MESSAGE_BYTES)
		return err_set(e, 0, "%zu bytes are too many for a DNS message", len);
	if ((msg[AT_FLAGS] & FLAG_QR) != 0)
		return err_set(e, 0, "an answer where a query was expected");
	if ((msg[AT_FLAGS] & FLAG_OPCODE) != 0)
		return err_set(e, 0, "opcode %d is no standard query",
			       (msg[AT_FLAGS] & FLAG_OPCODE) >> 3);
	if (get16(msg + AT_QDCOUNT) != 1)
		return err_set(e, 0, "%u questions in one query", get16(msg + AT_QDCOUNT));
	if (get16(msg + AT_ANCOUNT) != 0 || get16(msg + AT_NSCOUNT) != 0)
		return err_set(e, 0, "answers in a query");
	return 0;
}

/* The record at *@pos, which is moved behind it */
static int check_additional(const uint8_t *msg, size_t len, size_t *pos, size_t *opt, struct err *e)
{
	size_t name = name_bytes(msg, len, *pos, true);
	const uint8_t *record = msg + *pos + name;
	size_t left = len - *pos - name;

	if (name == 0)
		return err_set(e, 0, "an additional record's name is malformed");
	if (left < RECORD_BYTES || left - RECORD_BYTES < get16(record + 8))
		return err_set(e, 0, "an additional record is cut short");
	if (get16(record) == TYPE_OPT) {
		/* RFC 6891 section 6.1.1: one at most; 6.1.2: its name is the root */
		if (*opt != 0 || name != 1)
			return err_set(e, 0, "more than one OPT record, or one that has a name");
		*opt = get16(record + 2);
		if (*opt < DNS_UDP_BYTES) /* section 6.2.3 */
			*opt = DNS_UDP_BYTES;
	}
	*pos += name + RECORD_BYTES + get16(record + 8);
	return 0;
}

/**
 * dns_check_query() - Make sure that a message is a query that may be passed on
 * @msg:	Message
 * @len:	Bytes of it
 * @ret:	What it asks
 * @e:		Set on failure
 *
 * That is: an ordinary query (opcode 0, so neither UPDATE nor NOTIFY), with one question, whose
 * name is not compressed, and no answers or authorities (so no IXFR); additional records (EDNS0,
 * TSIG) parse, there is one OPT at most, and nothing is behind the last of them.
 *
 * Return: 0 if it is, -1 if not
 */
int dns_check_query(const uint8_t *msg, size_t len, struct dns_query *ret, struct err *e)
{
	size_t pos = DNS_HEADER_BYTES, opt = 0, name;

	if (check_header(msg, len, e) < 0)
		return -1;
	name = name_bytes(msg, len, pos, false);
	if (name == 0)
		return err_set(e, 0, "the question's name is malformed");
	if (len - pos - name < 4)
		return err_set(e, 0, "the question is cut short");
	pos += name + 4;
	for (unsigned i = get16(msg + AT_ARCOUNT); i > 0; i--)
		if (check_additional(msg, len, &pos, &opt, e) < 0)
			return -1;
	if (pos != len)
		return err_set(e, 0, "%zu bytes behind the last record", len - pos);

	ret->question_bytes = name + 4;
	ret->udp_bytes = opt != 0 ? opt : DNS_UDP_BYTES;
	return 0;
}

/**
 * dns_is_answer() - Does this message answer that query?
 * @msg:	Message
 * @len:	Bytes of it
 * @query:	Query as it was sent, with the id that it was sent with
 * @q:		What dns_check_query() said of it
 *
 * It does if it is an answer, and has the query's id, opcode and question, byte for byte: the
 * case of letters counts, too (draft-vixie-dnsext-dns0x20).
 *
 * Return: whether it does
 */
bool dns_is_answer(const uint8_t *msg, size_t len, const uint8_t *query, const struct dns_query *q)
{
	return len <= DNS_MESSAGE_BYTES && len >= DNS_HEADER_BYTES + q->question_bytes &&
	       dns_id(msg) == dns_id(query) && (msg[AT_FLAGS] & FLAG_QR) != 0 &&
	       (msg[AT_FLAGS] & FLAG_OPCODE) == (query[AT_FLAGS] & FLAG_OPCODE) &&
	       get16(msg + AT_QDCOUNT) == 1 &&
	       memcmp(msg + DNS_HEADER_BYTES, query + DNS_HEADER_BYTES, q->question_bytes) == 0;
}

/**
 * dns_id() - A message's id
 * @msg:	At least DNS_HEADER_BYTES
 *
 * Return: id, host byte order
 */
uint16_t dns_id(const uint8_t *msg)
{
	return get16(msg);
}

/**
 * dns_set_id() - Give a message an id
 * @msg:	At least DNS_HEADER_BYTES
 * @id:		Host byte order
 */
void dns_set_id(uint8_t *msg, uint16_t id)
{
	put16(msg, id);
}

/**
 * dns_rcode() - How an answer went, without the bits that EDNS0 adds
 * @msg:	At least DNS_HEADER_BYTES
 *
 * Return: 0 to 15, see enum dns_rcode
 */
int dns_rcode(const uint8_t *msg)
{
	return msg[AT_RCODE] & RCODE;
}

/* Header and question, and no records */
static size_t make_bare(const uint8_t *msg, const struct dns_query *q, uint8_t *ret)
{
	size_t len = DNS_HEADER_BYTES + q->question_bytes;

	memcpy(ret, msg, len);
	put16(ret + AT_QDCOUNT, 1);
	memset(ret + AT_ANCOUNT, 0, DNS_HEADER_BYTES - AT_ANCOUNT);
	return len;
}

/**
 * dns_make_servfail() - Make the answer that says: we could not find out
 * @query:	Query
 * @q:		What dns_check_query() said of it
 * @ret:	Answer, not longer than the query, with the query's id, question, RD and CD
 *
 * Return: bytes of it
 */
size_t dns_make_servfail(const uint8_t *query, const struct dns_query *q,
			 uint8_t ret[DNS_BARE_BYTES])
{
	size_t len = make_bare(query, q, ret);

	ret[AT_FLAGS] = (uint8_t)(FLAG_QR | (query[AT_FLAGS] & FLAG_RD));
	ret[AT_RCODE] = (uint8_t)(FLAG_RA | (query[AT_RCODE] & FLAG_CD) | DNS_SERVFAIL);
	return len;
}

/**
 * dns_make_truncated() - Make the answer that says: ask again, over TCP
 * @answer:	Answer that is too long, and for which dns_is_answer() holds
 * @q:		What dns_check_query() said of the query
 * @ret:	@answer with TC set, RFC 2181 section 9, and no records
 *
 * Return: bytes of it, not above DNS_UDP_BYTES
 */
size_t dns_make_truncated(const uint8_t *answer, const struct dns_query *q,
			  uint8_t ret[DNS_BARE_BYTES])
{
	size_t len = make_bare(answer, q, ret);

	ret[AT_FLAGS] |= FLAG_TC;
	return len;
}
