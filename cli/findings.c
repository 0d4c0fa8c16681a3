/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "findings.h"
#include "format.h"
#include "message.h"

#define SCHEMA "execalign-doctor-1"

static void *checked(void *memory)
{
	if (memory)
		return memory;
	message("doctor", "out of memory; end some programs");
	exit(EXIT_TROUBLE);
}

static char *format_text(const char *format, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	return checked(text);
}

struct finding *finding_add(struct doctor *doctor, const char *name, const char *subject,
	enum status status, const char *format, ...)
{
	struct finding *finding;
	va_list args;

	doctor->findings = checked(
		reallocarray(doctor->findings, doctor->count + 1, sizeof(*doctor->findings)));
	finding = &doctor->findings[doctor->count++];
	memset(finding, 0, sizeof(*finding));
	finding->name = name;
	finding->subject = subject ? checked(strdup(subject)) : NULL;
	finding->status = status;
	va_start(args, format);
	finding->detail = format_text(format, args);
	va_end(args);
	finding->values = checked(json_object_new_object());
	return finding;
}

void finding_remedy(struct finding *finding, const char *format, ...)
{
	va_list args;

	free(finding->remedy);
	va_start(args, format);
	finding->remedy = format_text(format, args);
	va_end(args);
}

const char *remedy_run(const struct doctor *doctor)
{
	return doctor->loader_places
		       ? "nothing: this system's loader places text and advises it by itself"
		       : "start programs with 'execalign run'";
}

void finding_value(struct finding *finding, const char *key, struct json_object *value)
{
	json_object_object_add(finding->values, key, value);
}

static const char *status_name(enum status status)
{
	switch (status) {
	case STATUS_OK:
		return "ok";
	case STATUS_LIMITS:
		return "limits";
	case STATUS_UNKNOWN:
		break;
	}
	return "unknown";
}

static const char *status_style(const struct style *style, enum status status)
{
	switch (status) {
	case STATUS_OK:
		return style->good;
	case STATUS_LIMITS:
		return style->bad;
	case STATUS_UNKNOWN:
		break;
	}
	return style->doubt;
}

static void print_finding(FILE *stream, const struct style *style, const struct finding *finding)
{
	fprintf(stream, "%s%-7s%s  %-17s  ", status_style(style, finding->status),
		status_name(finding->status), style->off, finding->name);
	if (finding->subject) {
		print_escaped(stream, finding->subject);
		fputs(": ", stream);
	}
	print_escaped(stream, finding->detail);
	fputc('\n', stream);
	if (!finding->remedy)
		return;
	fprintf(stream, "%28s-> ", "");
	print_escaped(stream, finding->remedy);
	fputc('\n', stream);
}

int findings_print_text(FILE *stream, const struct doctor *doctor)
{
	const struct style *style = style_for(stream);
	size_t i;

	for (i = 0; i < doctor->count; i++)
		print_finding(stream, style, &doctor->findings[i]);
	return ferror(stream) ? -EIO : 0;
}

static struct json_object *finding_json(const struct finding *finding)
{
	struct json_object *json = json_object_new_object();

	json_object_object_add(json, "name", json_object_new_string(finding->name));
	json_object_object_add(json, "subject", json_name(finding->subject));
	json_object_object_add(
		json, "status", json_object_new_string(status_name(finding->status)));
	json_object_object_add(json, "detail", json_name(finding->detail));
	json_object_object_add(json, "remedy", json_name(finding->remedy));
	json_object_object_add(json, "values", json_object_get(finding->values));
	return json;
}

int findings_print_json(FILE *stream, const struct doctor *doctor)
{
	struct json_object *json = json_object_new_object();
	struct json_object *checks = json_object_new_array();
	size_t i;

	json_object_object_add(json, "schema", json_object_new_string(SCHEMA));
	json_object_object_add(json, "machine", machine_json(doctor->machine));
	for (i = 0; i < doctor->count; i++)
		json_object_array_add(checks, finding_json(&doctor->findings[i]));
	json_object_object_add(json, "checks", checks);
	return json_print(stream, json);
}

void findings_free(struct doctor *doctor)
{
	size_t i;

	for (i = 0; i < doctor->count; i++) {
		free(doctor->findings[i].subject);
		free(doctor->findings[i].detail);
		free(doctor->findings[i].remedy);
		json_object_put(doctor->findings[i].values);
	}
	free(doctor->findings);
	free(doctor->config);
	mounts_free(&doctor->mounts);
}
