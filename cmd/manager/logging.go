package main

import (
	"fmt"
	"io"

	"github.com/go-logr/logr"
	uberzap "go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// levels of the log. Debug includes what libraries say at verbosity 1.
var levels = map[string]zapcore.Level{"error": zapcore.ErrorLevel, "info": zapcore.InfoLevel, "debug": zapcore.DebugLevel}

// logger returns the log: one JSON object per line, with the keys ts, level,
// logger, msg, error, and those of the message. Log queries rely on them.
func (s *settings) logger(out io.Writer) (logr.Logger, error) {
	level, ok := levels[s.logLevel]
	if !ok {
		return logr.Logger{}, fmt.Errorf("reading the flags: --log-level %q is none of error, info and debug", s.logLevel)
	}
	encoding := uberzap.NewProductionEncoderConfig()
	encoding.TimeKey, encoding.LevelKey, encoding.NameKey, encoding.MessageKey = "ts", "level", "logger", "msg"
	encoding.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	var encoder zapcore.Encoder
	switch s.logFormat {
	case "json":
		encoder = zapcore.NewJSONEncoder(encoding)
	case "text":
		encoder = zapcore.NewConsoleEncoder(encoding)
	default:
		return logr.Logger{}, fmt.Errorf("reading the flags: --log-format %q is neither json nor text", s.logFormat)
	}
	return zap.New(
		zap.WriteTo(out),
		zap.Level(level),
		zap.Encoder(encoder),
		// A stack trace with every reconcile error would flood the log; panics
		// keep theirs.
		zap.StacktraceLevel(zapcore.DPanicLevel),
	), nil
}
